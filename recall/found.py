"""What retrieval hands on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backread.store.repositories.retrieval import FoundPassage
from recall.query import Question


@dataclass(frozen=True, slots=True)
class Found:
    """What retrieval found for one question, best first, with the score of each passage.

    `cosines` holds the passages' raw similarity where the meaning leg found them.
    """

    question: Question
    passages: Sequence[FoundPassage]
    scores: Sequence[float]
    cosines: Mapping[int, float]
