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

import numpy as np
from numpy.typing import NDArray

from backread.domain import Role
from backread.store.repositories.retrieval import PassagePlace
from backread.vectors.index import ScoredPoint
from recall.hybrid import by_range

Place = tuple[str, int]  # conversation id, position

Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]

_SPEAKING = 4
_MOST = 600  # ranked; what follows is never shown
_ROOM = 2**32  # for the positions of a conversation


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
    lexical = [point for point in lexical if point.id in places]
    dense = [point for point in dense if point.id in places]
    by_words, by_meaning = _by_top(lexical), by_range(dense)
    own: dict[int, float] = {}  # by id
    for scores, weight in ((by_words, 1.0), (by_meaning, weights.dense)):
        if weight:
            for point_id, score in scores.items():
                own[point_id] = own.get(point_id, 0.0) + weight * score
    return Fusion(
        _ranked([places[each] for each in own], own.values(), weights, is_preferred, recency),
        _placed(by_meaning, places),
        _spoken(by_words, places),
    )


def _ranked(
    found: Sequence[PassagePlace],
    scores: Iterable[float],
    weights: Weights,
    is_preferred: Callable[[PassagePlace], bool] | None,
    recency: Callable[[PassagePlace], float] | None,
) -> list[Ranked]:
    """What was found and its neighbours, best first; of equals the first place first.

    In arrays: a place is a number, its conversation's in the order of their ids and its position
    in it, and each step is one operation on all places.
    """
    if not found:
        return []
    names = sorted({each.conversation_id for each in found})
    number_of = {name: number for number, name in enumerate(names)}
    own_scores = np.fromiter(scores, np.float64, len(found))
    conversations = np.array([number_of[each.conversation_id] for each in found], np.int64)
    positions = np.array([each.position for each in found], np.int64)
    keys, of_key, spread = _with_neighbours(conversations, positions, own_scores, weights)
    speaking = _speaking_for(conversations, own_scores, len(names))
    totals = spread / (spread.max() or 1.0)
    totals += weights.conversation * speaking[keys // _ROOM] / (speaking.max() or 1.0)
    user = Role.USER.value
    totals[of_key[[each.role == user for each in found]]] *= weights.user_turn
    if is_preferred is not None:
        totals[of_key[[is_preferred(each) for each in found]]] *= weights.preferred
    if recency is not None:
        totals[of_key] += [weights.recent * recency(each) for each in found]
    best = np.argsort(-totals, kind="stable")[:_MOST]  # the keys are in order already
    numbers, at = np.divmod(keys[best], _ROOM)
    found_at = zip(map(names.__getitem__, numbers.tolist()), at.tolist(), strict=True)
    return list(map(Ranked, found_at, totals[best].tolist()))


def _with_neighbours(
    conversations: Numbers, positions: Numbers, own: Scores, weights: Weights
) -> tuple[Numbers, Numbers, Scores]:
    """The places of what was found and of its neighbours in order, where among them each that was
    found is, and every place's score: its own and its share of those beside it."""
    starts = conversations * _ROOM
    reached, shares = [starts + positions], [own]
    for distance, weight in ((1, weights.neighbour), (2, weights.second_neighbour)):
        if weight:
            beside = np.stack((positions - distance, positions + distance), axis=1)
            exists = (beside >= 0).ravel()
            reached.append((starts[:, np.newaxis] + beside).ravel()[exists])
            shares.append(np.repeat(weight * own, 2)[exists])
    keys, rows = np.unique(np.concatenate(reached), return_inverse=True)
    spread = np.asarray(np.bincount(rows, np.concatenate(shares)), np.float64)
    return keys, np.asarray(rows[: len(own)], np.int64), spread


def _speaking_for(conversations: Numbers, own: Scores, count: int) -> Scores:
    """What speaks for a conversation: its best passage, half the next, a quarter of the third …"""
    order = np.lexsort((-own, conversations))
    sizes = np.bincount(conversations, minlength=count)
    firsts = np.cumsum(sizes) - sizes
    place = np.arange(len(own)) - np.repeat(firsts, sizes)
    counted = order[place < _SPEAKING]
    halved = own[counted] / 2.0 ** place[place < _SPEAKING]
    return np.asarray(np.bincount(conversations[counted], halved, count), np.float64)


def _placed(scores: Mapping[int, float], places: Mapping[int, PassagePlace]) -> dict[Place, float]:
    return {places[point_id][1:3]: score for point_id, score in scores.items()}


def _spoken(by_words: Mapping[int, float], places: Mapping[int, PassagePlace]) -> dict[str, float]:
    """What speaks for each conversation by its words, as a share of the most."""
    number_of: dict[str, int] = {}
    conversations = [
        number_of.setdefault(places[each].conversation_id, len(number_of)) for each in by_words
    ]
    own = np.fromiter(by_words.values(), np.float64, len(by_words))
    speaking = _speaking_for(np.array(conversations, np.int64), own, len(number_of))
    return dict(
        zip(number_of, (speaking / (speaking.max(initial=0.0) or 1.0)).tolist(), strict=True)
    )


def _by_top(points: Sequence[ScoredPoint]) -> dict[int, float]:
    """BM25 has a natural zero: no word in common."""
    top = max((point.score for point in points), default=0.0)
    return {point.id: point.score / top for point in points} if top > 0 else {}


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
