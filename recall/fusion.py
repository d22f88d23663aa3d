"""One ranking out of two: words and meaning, and what stands around a passage.

Pure functions over scores. What each step adds is measured by `benchmarks/recall_quality`.

1. Each leg's scores are scaled to 0–1 and summed. Ranks alone (reciprocal rank fusion) would let
   the weaker leg undo the stronger one.
2. A passage gets part of its neighbours' score: the answer often stands beside the words of the
   question.
3. A passage gets part of what speaks for its whole conversation.
4. Where the question asks for what is recent, recent passages count more.
5. In chats with an assistant the person's own messages count a little more: the assistant writes
   most of the text, the person says most of what is asked for later.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backread.domain import Role
from backread.store.repositories.retrieval import PassagePlace
from backread.vectors.index import ScoredPoint
from recall.hybrid import by_range

Place = tuple[str, int]  # conversation id, position

_SPEAKING = 4
_MOST = 600  # ranked; what follows is never shown


@dataclass(frozen=True, slots=True)
class Weights:
    """Set by the benchmark, on structure: no weight knows a word of any question."""

    dense: float = 0.5
    neighbour: float = 0.4
    second_neighbour: float = 0.2
    conversation: float = 0.5
    user_turn: float = 1.4
    preferred: float = 1.2
    recent: float = 0.4


@dataclass(frozen=True, slots=True)
class Fusion:
    """The ranking, best first, with two of its parts: how near in meaning each place is, and how
    much speaks for each conversation, both 0 to 1 within one query."""

    ranked: "list[Ranked]"
    meaning: Mapping[Place, float]
    conversations: Mapping[str, float]


class Ranked(NamedTuple):
    """A place in a conversation and its score, 0 and up. Scores compare within one query only."""

    place: Place
    score: float


def fuse(
    lexical: Sequence[ScoredPoint],
    dense: Sequence[ScoredPoint],
    places: Mapping[int, PassagePlace],
    weights: Weights,
    *,
    is_preferred: Callable[[PassagePlace], bool] | None = None,
    recency: Callable[[PassagePlace], float] | None = None,
) -> Fusion:
    """Points without a place (deleted meanwhile, foreign, left out) are left out before anything
    is scaled.

    Neighbours of what was found may appear though neither leg found them; the caller checks them
    against its filter. `is_preferred` passages count more, and so do recent ones by `recency`
    (0 to 1).
    """
    own: dict[Place, float] = {}
    by_place: dict[Place, PassagePlace] = {}
    lexical = [point for point in lexical if point.id in places]
    dense = [point for point in dense if point.id in places]
    by_words, by_meaning = _by_top(lexical), by_range(dense)
    for scores, weight in ((by_words, 1.0), (by_meaning, weights.dense)):
        for point_id, score in scores.items():
            place = places.get(point_id)
            if place is not None and weight:
                key = (place.conversation_id, place.position)
                by_place[key] = place
                own[key] = own.get(key, 0.0) + weight * score
    spread = _with_neighbours(own, weights)
    top = max(spread.values(), default=0.0) or 1.0
    best = _by_conversation(own)
    best_of_all = max(best.values(), default=0.0) or 1.0
    totals = []
    for key, score in spread.items():
        total = score / top + weights.conversation * best.get(key[0], 0.0) / best_of_all
        found = by_place.get(key)
        if found is not None:
            if found.role == Role.USER:
                total *= weights.user_turn
            if is_preferred is not None and is_preferred(found):
                total *= weights.preferred
            if recency is not None:
                total += weights.recent * recency(found)
        totals.append((-total, key))
    totals.sort()
    return Fusion(
        [Ranked(key, -negative) for negative, key in totals[:_MOST]],
        _placed(by_meaning, places),
        _shares(_by_conversation(_placed(by_words, places))),
    )


def _placed(scores: Mapping[int, float], places: Mapping[int, PassagePlace]) -> dict[Place, float]:
    return {
        (places[point_id].conversation_id, places[point_id].position): score
        for point_id, score in scores.items()
    }


def _shares(scores: Mapping[str, float]) -> dict[str, float]:
    top = max(scores.values(), default=0.0) or 1.0
    return {name: score / top for name, score in scores.items()}


def _by_top(points: Sequence[ScoredPoint]) -> dict[int, float]:
    """BM25 has a natural zero: no word in common."""
    top = max((point.score for point in points), default=0.0)
    return {point.id: point.score / top for point in points} if top > 0 else {}


def _with_neighbours(own: Mapping[Place, float], weights: Weights) -> dict[Place, float]:
    spread = dict(own)
    for distance, weight in ((1, weights.neighbour), (2, weights.second_neighbour)):
        if not weight:
            continue
        for (conversation_id, position), score in own.items():
            for near in (position - distance, position + distance):
                if near >= 0:
                    key = (conversation_id, near)
                    spread[key] = spread.get(key, 0.0) + weight * score
    return spread


def _by_conversation(own: Mapping[Place, float]) -> dict[str, float]:
    """What speaks for a conversation: its best passage, half the next, a quarter of the third …"""
    scores: dict[str, list[float]] = {}
    for (conversation_id, _), score in own.items():
        scores.setdefault(conversation_id, []).append(score)
    return {
        conversation_id: sum(
            score / 2**order for order, score in enumerate(sorted(some, reverse=True)[:_SPEAKING])
        )
        for conversation_id, some in scores.items()
    }


def diversified(ranked: Iterable[Ranked], per_conversation: int, limit: int) -> list[Ranked]:
    """The first `limit` of the ranking, with each conversation's passages beyond the first few
    moved to the end, so that one long chat does not take every place."""
    first: list[Ranked] = []
    rest: list[Ranked] = []
    seen: dict[str, int] = {}
    for each in ranked:
        conversation_id = each.place[0]
        seen[conversation_id] = seen.get(conversation_id, 0) + 1
        (first if seen[conversation_id] <= per_conversation else rest).append(each)
        if len(first) == limit:
            return first
    return (first + rest)[:limit]
