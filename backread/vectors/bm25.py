"""Words to BM25 weights: one tokeniser for the embedded index and for a Qdrant server.

Chinese, Japanese and Thai are cut into words by dictionary, other scripts at spaces and
punctuation. Korean is cut into overlapping pairs of syllables, because its particles are written
onto the word: 리스본 must find 리스본으로. Accents on Latin letters do not count. No stop words are
dropped: which words of a question say nothing is the asker's to know.

Words in Latin letters have their English stem, `move` for `moving`, and in a text of another
language that one's stem as well, where the two differ: `haus` for `Häuser`. A question asks for
the stems of its own language, and a little for the English ones, which a text too short to tell
its language has alone; a question that does not tell either, a few bare words, asks for all. Words
of Arabic, Greek, Cyrillic and Tamil letters have the one stem of their language.

Token ids are those of Qdrant's own BM25. It is asked for each word once, and for everything in
scripts that it has to segment; counting known words here is five times as fast as handing it
whole texts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qdrant_edge import (
    Bm25,
    Bm25Config,
    SnowballLanguage,
    SnowballParams,
    StopwordsSet,
    TokenizerType,
)

from backread.text.stemmers import (
    ENGLISH,
    language_of_text,
    languages_of_question,
    stem_by_script,
    stem_in,
)

# Part of the index's signature: raise it whenever the same text would give other weights.
BM25_VERSION = 2

_SATURATION = 1.2  # `k1` of BM25: how soon repeating a word stops counting
_LENGTH_WEIGHT = 0.75  # `b` of BM25
_AVERAGE_WORDS = 256.0  # above the true average on purpose: being short alone earns little
_LONGEST_WORD = 64  # longer "words" are hashes and encoded files, which nobody asks for

# Runs of letters and digits, and of anything beyond ASCII that is not general punctuation. The
# joiners U+200C and U+200D stay: they stand inside words.
_RUN = re.compile(
    "[^\x00-/:-@\\[-`{-\xbf\u060c\u061b\u061f\u066a-\u066d\u06d4"
    "\u2000-\u200b\u200e-\u206f\u3000-\u303f\uff00-\uff0f]+"
)
# The same for plain ASCII, where translating and splitting takes a third of the time.
_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
_HANGUL = re.compile("[\uac00-\ud7a3]{3,}")

# With these two settings a weight is the plain count of the token, as long as that is far below
# the saturation.
_COUNTER = Bm25(
    Bm25Config(
        k=1e6,
        b=0.0,
        tokenizer=TokenizerType.Multilingual,
        stemmer=SnowballParams(SnowballLanguage.English),
        stopwords=StopwordsSet(languages=set(), custom=set()),
        ascii_folding=True,
        max_token_len=_LONGEST_WORD,
    )
)

# Stems as they are, with the ids that the other one gives words of the same letters.
_PLAIN = Bm25(
    Bm25Config(
        k=1e6,
        b=0.0,
        tokenizer=TokenizerType.Multilingual,
        stemmer=None,
        stopwords=StopwordsSet(languages=set(), custom=set()),
        ascii_folding=True,
        max_token_len=_LONGEST_WORD,
    )
)
# What a stem counts that is not of the language that is asked in, or may well not be.
_ANOTHER_LANGUAGE = 0.3

_MOST_KNOWN = 200_000
_LONGEST_KNOWN = 24
_SEVERAL = -1
_known: dict[str, int] = {}
_known_stems: dict[tuple[str, str], int] = {}  # by word and language


@dataclass(frozen=True, slots=True)
class SparseWords:
    """Token ids and their weights, in step. Empty when a text has no words."""

    indices: list[int]
    values: list[float]


def encode_document(text: str) -> SparseWords:
    """Term weights of a text to be found: saturated frequency, normalised by length. A word
    that has two stems is as long as one."""
    counts = _token_counts(text)
    length = sum(counts.values())
    language = language_of_text(text)
    if language != ENGLISH:
        for run in _latin_runs(text):
            token = _stem_token(run, language)
            if token not in (_SEVERAL, _english_token(run)):
                counts[token] = counts.get(token, 0) + 1
    damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / _AVERAGE_WORDS)
    gain = _SATURATION + 1
    return SparseWords(
        list(counts), [count * gain / (count + damping) for count in counts.values()]
    )


def encode_query(text: str, languages: Sequence[str] = ()) -> SparseWords:
    """The different words of a query, each with weight 1; the index multiplies by their IDF.
    `languages`: the codes of those that it may be in; told by the text itself if not given."""
    languages = languages or languages_of_question(text)
    weights = dict.fromkeys(_token_counts(text), 1.0)
    others = [language for language in languages if language != ENGLISH]
    if not others:
        return SparseWords(list(weights), list(weights.values()))
    is_maybe_english = ENGLISH in languages
    weight = _ANOTHER_LANGUAGE if is_maybe_english else 1.0
    runs = list(_latin_runs(text))
    if not is_maybe_english:
        for token in weights.keys() & {_english_token(run) for run in runs}:
            weights[token] = _ANOTHER_LANGUAGE
    for run in runs:
        for token in {_stem_token(run, language) for language in others} - {_SEVERAL}:
            weights[token] = max(weight, weights.get(token, 0.0))
    return SparseWords(list(weights), list(weights.values()))


def _token_counts(text: str) -> dict[int, int]:
    text = text.lower()
    runs = text.translate(_SPACES).split() if text.isascii() else _RUN.findall(text)
    counts: dict[int, int] = {}
    others: list[str] = []
    for run in runs:
        token = _known.get(run)
        if token is None:
            token = _learn(run)
        if token == _SEVERAL:
            others.append(run)
        else:
            counts[token] = counts.get(token, 0) + 1
    for token, count in _segmented(others):
        counts[token] = counts.get(token, 0) + count
    return counts


def _latin_runs(text: str) -> Iterator[str]:
    """The words of Latin letters, in lower case."""
    text = text.lower()
    for run in text.translate(_SPACES).split() if text.isascii() else _RUN.findall(text):
        if run.isalpha() and run[0] < "\u0250":
            yield run


def _english_token(run: str) -> int:
    """What `_token_counts` counts the word as."""
    token = _known.get(run)
    return _stem_token(run, ENGLISH) if token is None else token


def _stem_token(run: str, language: str) -> int:
    """The token of a word's stem in a language; `_SEVERAL` where that is no single token."""
    key = run, language
    token = _known_stems.get(key)
    if token is None:
        if len(_known_stems) >= _MOST_KNOWN:
            _known_stems.clear()
        found = _PLAIN.embed_document(stem_in(run, language)).indices
        token = _known_stems[key] = found[0] if len(found) == 1 else _SEVERAL
    return token


def _learn(run: str) -> int:
    """The token of a run that is one word; `_SEVERAL` for one that is more, or none."""
    if len(run) > _LONGEST_KNOWN:
        return _SEVERAL
    stem = stem_by_script(run)
    if stem:
        found = _PLAIN.embed_document(stem)
        tokens = [(index, 1) for index in found.indices]
    else:
        tokens = list(_segmented([run]))
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    token = tokens[0][0] if len(tokens) == 1 and tokens[0][1] == 1 else _SEVERAL
    _known[run] = token
    return token


def _segmented(runs: list[str]) -> Iterable[tuple[int, int]]:
    if not runs:
        return ()
    text = " ".join(runs)
    if not text.isascii():
        # Half a surrogate pair, as cut-off JSON escapes leave them, is no character.
        text = text.encode("utf-8", "replace").decode()
        text = _HANGUL.sub(_syllable_pairs, text)
    sparse = _COUNTER.embed_document(text)
    return zip(sparse.indices, map(round, sparse.values), strict=True)


def _syllable_pairs(match: re.Match[str]) -> str:
    word = match.group()
    return " ".join(word[start : start + 2] for start in range(len(word) - 1))
