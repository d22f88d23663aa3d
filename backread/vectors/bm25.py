"""Words to BM25 weights: one tokeniser for the embedded index and for a Qdrant server.

Chinese, Japanese and Thai are cut into words by dictionary, other scripts at spaces and
punctuation. Korean is cut into overlapping pairs of syllables, because its particles are written
onto the word: 리스본 must find 리스본으로. Words are stemmed with the English stemmer whatever the
language: it changes Latin letters only and finds `moving` for `move`. Accents on Latin letters do
not count. No stop words are dropped: which words of a question say nothing is the asker's to know.
"""

import re
from dataclasses import dataclass

from qdrant_edge import (
    Bm25,
    Bm25Config,
    SnowballLanguage,
    SnowballParams,
    StopwordsSet,
    TokenizerType,
)

# Part of the index's signature: raise it whenever the same text would give other weights.
BM25_VERSION = 1

_AVERAGE_WORDS = 256.0  # longer than most passages on purpose: short ones should not win by length
_LONGEST_WORD = 64  # longer "words" are hashes and encoded files, which nobody asks for
_HANGUL = re.compile("[\uac00-\ud7a3]{3,}")

_MODEL = Bm25(
    Bm25Config(
        tokenizer=TokenizerType.Multilingual,
        stemmer=SnowballParams(SnowballLanguage.English),
        stopwords=StopwordsSet(languages=set(), custom=set()),
        ascii_folding=True,
        avg_len=_AVERAGE_WORDS,
        max_token_len=_LONGEST_WORD,
    )
)


@dataclass(frozen=True, slots=True)
class SparseWords:
    """Token ids and their weights, in step. Empty when a text has no words."""

    indices: list[int]
    values: list[float]


def encode_document(text: str) -> SparseWords:
    """Term weights of a text to be found: saturated frequency, normalised by length."""
    sparse = _MODEL.embed_document(_prepared(text))
    return SparseWords(sparse.indices, sparse.values)


def encode_query(text: str) -> SparseWords:
    """The different words of a query, each with weight 1; the index multiplies by their IDF."""
    sparse = _MODEL.embed_query(_prepared(text))
    return SparseWords(sparse.indices, sparse.values)


def _prepared(text: str) -> str:
    if not text.isascii():
        # Half a surrogate pair, as cut-off JSON escapes leave them, is no character.
        text = text.encode("utf-8", "replace").decode()
        text = _HANGUL.sub(_syllable_pairs, text)
    return text


def _syllable_pairs(match: re.Match[str]) -> str:
    word = match.group()
    return " ".join(word[start : start + 2] for start in range(len(word) - 1))
