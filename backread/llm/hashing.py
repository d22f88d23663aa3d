"""An embedder without a model: words and character n-grams hashed into a fixed space.

It knows spelling, not meaning, so it finds less than a trained model does. It is there for
machines where onnxruntime does not run, and it makes tests quick and exact: the same text gives
the same bits on every machine.
"""

import re
import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from backread.llm.embedding import Vectors

_DIMENSIONS = 384
_WORD = re.compile(r"\w+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_PART_WEIGHT = 0.5  # an n-gram says less than the whole word
_NOTHING = 0  # a place of its own for texts without a word, so that their rows have length 1 too


class HashingEmbedder:
    """Embeds by feature hashing (Weinberger et al. 2009, https://arxiv.org/abs/0902.2206)."""

    @property
    def signature(self) -> str:
        return f"hashing-v1-{_DIMENSIONS}"

    @property
    def dimensions(self) -> int:
        return _DIMENSIONS

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), _DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = _embed(text)
        return rows

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)


def _embed(text: str) -> NDArray[np.float32]:
    features = [_features(word) for word in _WORD.findall(_plain(text))]
    if not features:
        return _nothing()
    places = np.concatenate([places for places, _ in features])
    weights = np.concatenate([weights for _, weights in features])
    sums = np.bincount(places, weights, _DIMENSIONS)
    # Damped, so that one word repeated does not drown the others.
    damped = np.sign(sums) * np.sqrt(np.abs(sums))
    length = float(np.linalg.norm(damped))
    # Features of opposite sign can cancel each other out.
    return (damped / length).astype(np.float32) if length else _nothing()


def _plain(text: str) -> str:
    """Lower case without accents: what looks alike should be hashed alike."""
    if text.isascii():
        return text.lower()
    marks = unicodedata.normalize("NFKD", text.lower())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", marks))


def _nothing() -> NDArray[np.float32]:
    row = np.zeros(_DIMENSIONS, dtype=np.float32)
    row[_NOTHING] = 1.0
    return row


@lru_cache(maxsize=65_536)
def _features(word: str) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    # Scripts without spaces put a whole clause into one "word"; their characters say more each.
    size = 3 if word.isascii() else 2
    padded = f"^{word}$"
    parts = [padded[start : start + size] for start in range(len(padded) - size + 1)]
    hashes = [zlib.crc32(feature.encode("utf-8", "surrogatepass")) for feature in [word, *parts]]
    places = np.array([1 + value % (_DIMENSIONS - 1) for value in hashes], dtype=np.intp)
    signs = np.array([1.0 if value >> 31 else -1.0 for value in hashes])
    signs[1:] *= _PART_WEIGHT
    return places, signs
