"""What retrieval hands on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backread.store.repositories.retrieval import FoundPassage
from recall.query import Question


@dataclass(frozen=True, slots=True)
class Found:
    """What retrieval found for one question, best first, with the score of each passage.

    `cosines` holds the passages' raw similarity where the meaning leg found them. `around` holds
    passages that were read along with these, by place, None where a place has none.
    """

    question: Question
    passages: Sequence[FoundPassage]
    scores: Sequence[float]
    cosines: Mapping[int, float]
    around: Mapping[tuple[str, int], FoundPassage | None] = field(default_factory=dict)
