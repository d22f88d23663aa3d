"""Similarity that means the same with every embedding model.

Cosines of related texts lie at .3 with one model and at .85 with another, so a threshold on them
means nothing. Here the cosine of a query with a text, and the share of the query's words that the
text has, become one score from 0 to 1 by logistic regression (Platt, "Probabilistic Outputs for
Support Vector Machines", 1999), and the score is moved so that `THRESHOLD` lies between related
and unrelated texts. It is fitted once for each model, on question and text pairs that come with
Backread, when the model first answers a search; that takes about a second.

Measured by `benchmarks/folder_similarity` on other pairs than those.
"""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backread.kernel import Kernel
from backread.llm.embedding import Embedder
from backread.store.models import SimilarityCalibration
from backread.store.repositories import calibrations
from recall.sentences import stems

CALIBRATION_VERSION = 1
THRESHOLD = 0.7

_PAIRS_FILE = Path(__file__).with_name("calibration_pairs.tsv")
_STEPS = 50  # of Newton's method; it has converged long before
_DECAY = 0.05  # keeps the weights finite when the pairs are told apart without a mistake
_UNRELATED_BELOW = 0.97  # so many of the unrelated pairs stay below the threshold, if possible
_RELATED_ABOVE = 0.95

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """score = 1 / (1 + e^-(intercept + cosine · cosine_weight + words · words_weight))."""

    intercept: float
    cosine_weight: float
    words_weight: float

    def score(self, cosine: float, words: float) -> float:
        """0 to 1, growing with both."""
        z = self.intercept + self.cosine_weight * cosine + self.words_weight * words
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def calibration_of(kernel: Kernel) -> Calibration:
    """The calibration of the serving model; fitted and kept if there is none yet. Raises
    Unavailable when the model cannot be had."""
    name = f"{kernel.embedder.signature}#{CALIBRATION_VERSION}"[:200]
    with kernel.store.read() as session:
        row = calibrations.find_calibration(session, name)
    if row is None:
        fitted = fit(kernel.embedder)
        with kernel.store.write() as session:
            calibrations.keep_calibration(
                session,
                SimilarityCalibration(
                    embedder=name,
                    intercept=fitted.intercept,
                    cosine_weight=fitted.cosine_weight,
                    words_weight=fitted.words_weight,
                ),
            )
        return fitted
    return Calibration(row.intercept, row.cosine_weight, row.words_weight)


def fit(embedder: Embedder) -> Calibration:
    """The calibration of a model, from the pairs that come with Backread: each query with its own
    text is related, with any other unrelated."""
    pairs = calibration_pairs()
    queries = embedder.embed_queries([query for query, _ in pairs])
    texts = embedder.embed_passages([text for _, text in pairs])
    cosines = (queries @ texts.T).astype(np.float64)
    shares = np.array([[word_share(query, text) for _, text in pairs] for query, _ in pairs])
    is_related = np.eye(len(pairs), dtype=bool)
    return _fit(cosines.ravel(), shares.ravel(), is_related.ravel())


@cache
def calibration_pairs() -> tuple[tuple[str, str], ...]:
    """Queries, and for each a text that answers it."""
    lines = _PAIRS_FILE.read_text("utf-8").splitlines()
    split = (line.split("\t") for line in lines if line)
    return tuple((query, text) for query, text in split)


def word_share(query: str, text: str) -> float:
    """Which part of the query's words, by their stems, stands in the text: 0 to 1."""
    asked = set(stems(query))
    return len(asked.intersection(stems(text))) / len(asked) if asked else 0.0


def _fit(cosines: Floats, shares: Floats, is_related: NDArray[np.bool_]) -> Calibration:
    features = np.column_stack([np.ones_like(cosines), cosines, shares])
    # Each class counts the same, however many pairs it has.
    related = is_related.sum()
    unrelated = len(is_related) - related
    importance = np.where(is_related, 0.5 / related, 0.5 / unrelated)
    weights = np.zeros(3)
    decay = np.diag([0.0, 1.0, 1.0]) * _DECAY * 1e-2
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(features @ weights, -60, 60)))
        gradient = features.T @ (importance * (chance - is_related)) + decay @ weights
        curve = (features * (importance * chance * (1 - chance))[:, None]).T @ features + decay
        weights = weights - np.linalg.solve(curve + np.eye(3) * 1e-9, gradient)
    # More alike must never score less.
    weights[1:] = np.maximum(weights[1:], 0.0)
    z = features @ weights
    highest = float(np.quantile(z[~is_related], _UNRELATED_BELOW))
    lowest = float(np.quantile(z[is_related], 1 - _RELATED_ABOVE))
    border = max(highest, (highest + lowest) / 2)
    intercept = weights[0] - border + math.log(THRESHOLD / (1 - THRESHOLD))
    return Calibration(float(intercept), float(weights[1]), float(weights[2]))
