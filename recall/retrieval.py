"""From questions to ranked passages: both legs asked in one call, fused, judged and read.

Filters hold before ranking. All questions of a call are embedded in one batch, asked of the index
in one call, and their passages read in one query.
"""

from collections.abc import Collection as Some
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.store.repositories.retrieval import (
    FoundPassage,
    PassageFilter,
    PassagePlace,
    passages_at,
    places_of,
)
from backread.vectors.index import Collection, IndexFilter, ScoredPoint
from recall import dense, lexical
from recall.dates.window import TimeWindow
from recall.found import Found
from recall.fusion import Place, Ranked, Weights, diversified, fuse
from recall.judging import Signs, judged, places_to_read
from recall.operators import with_operators
from recall.query import Question
from recall.reranking import without_title_only

# How many points each leg gives to the fusion.
_DEPTH = {"speed": 150, "quality": 400}
PER_CONVERSATION = 8
_HALF_LIFE_DAYS = 14.0

Mode = Literal["speed", "quality"]


def retrieve(
    kernel: Kernel,
    principal: Principal,
    questions: Sequence[Question],
    *,
    limit: int,
    mode: Mode = "speed",
    weights: Weights | None = None,
    signs: Signs | None = None,
    per_conversation: int = PER_CONVERSATION,
    leave_out: Sequence[Some[str]] = (),
) -> list[Found]:
    """For each question up to `limit` passages, best first.

    `leave_out`: for each question, ids of conversations that it must not be answered from, such
    as the one that it is asked in.
    """
    if not questions:
        raise InvalidInput("There is no question to search for.")
    weights = weights or Weights()
    depth = _DEPTH[mode]
    filters = [passage_filter(principal, question) for question in questions]
    by_words, by_meaning = _ask_index(kernel, questions, filters, depth)
    with kernel.store.read() as session:
        by_words = lexical.add_unindexed(
            session, kernel.index.lexical_signature, questions, filters, by_words, depth
        )
        ids = {point.id for answer in (*by_words, *by_meaning) for point in answer}
        timed = any(_looks_at_times(question) for question in questions)
        places = places_of(session, principal.account_id, ids, timed=timed)
        fusions = []
        for number, question in enumerate(questions):
            barred = leave_out[number] if leave_out else ()
            fusion = fuse(
                by_words[number],
                by_meaning[number],
                _without(places, barred),
                weights,
                is_preferred=_preference(question),
                recency=_recency(question),
            )
            if question.has_operators:
                kept = with_operators(session, filters[number], question, fusion.ranked)
                fusion = replace(fusion, ranked=kept)
            fusions.append(fusion)
        wide = limit + _spare(limit)
        wanted: set[Place] = set()
        for fusion in fusions:
            wanted |= places_to_read(fusion)
            wanted.update(each.place for each in diversified(fusion.ranked, per_conversation, wide))
        passages = passages_at(session, principal.account_id, wanted)
    around = {place: passages.get(place) for place in wanted}
    found = []
    for question, wanted_by, fusion, cosines in zip(
        questions, filters, fusions, by_meaning, strict=True
    ):
        ranked = judged(question, fusion, passages, signs)
        ranking = diversified(ranked, per_conversation, wide)
        one = _found(question, wanted_by, ranking, passages, cosines, limit)
        found.append(replace(one, around=around))
    return found


def _without(places: Mapping[int, PassagePlace], barred: Some[str]) -> Mapping[int, PassagePlace]:
    if not barred:
        return places
    return {id_: place for id_, place in places.items() if place.conversation_id not in barred}


def _ask_index(
    kernel: Kernel,
    questions: Sequence[Question],
    filters: Sequence[PassageFilter],
    depth: int,
) -> tuple[list[list[ScoredPoint]], list[list[ScoredPoint]]]:
    embedder = kernel.embedder
    vectors = dense.embed(embedder, questions)
    queries = []
    for question, wanted, vector in zip(questions, filters, vectors, strict=True):
        within = IndexFilter(
            account_id=wanted.account_id,
            after=wanted.after,
            before=wanted.before,
            platforms=wanted.platforms,
        )
        queries.append(lexical.index_query(question, within, depth))
        query = dense.index_query(vector.tolist(), within, depth, model=embedder.signature)
        queries.append(query)
    answers = kernel.index.search(Collection.PASSAGES, queries)
    return answers[0::2], answers[1::2]


def passage_filter(principal: Principal, question: Question) -> PassageFilter:
    """What may be found for a question."""
    strict = question.is_time_strict
    before = question.time.before if strict else None
    if question.as_of is not None:
        before = question.as_of if before is None else min(before, question.as_of)
    return PassageFilter(
        account_id=principal.account_id,
        after=question.time.after if strict else None,
        before=before,
        platforms=question.platforms,
    )


def _spare(limit: int) -> int:
    """How many passages more are looked at than asked for: some are gone meanwhile, of the
    neighbours many may lie outside of a window, and some match by their title alone."""
    return limit + 10


def _looks_at_times(question: Question) -> bool:
    return question.recent is not None or _preference(question) is not None


def _preference(question: Question) -> "_InWindow | None":
    if question.is_time_strict or (question.time.after is None and question.time.before is None):
        return None
    return _InWindow(question.time)


@dataclass(frozen=True, slots=True)
class _InWindow:
    window: TimeWindow

    def __call__(self, place: PassagePlace) -> bool:
        return self.window.holds(place.occurred_at)


def _recency(question: Question) -> "_Recency | None":
    return None if question.recent is None else _Recency(question.recent)


@dataclass(frozen=True, slots=True)
class _Recency:
    asked_at: datetime

    def __call__(self, place: PassagePlace) -> float:
        """1 for now, half of it for two weeks ago."""
        if place.occurred_at is None:
            return 0.0
        days = (self.asked_at - place.occurred_at).total_seconds() / 86_400
        return float(0.5 ** (max(0.0, days) / _HALF_LIFE_DAYS))


def _found(
    question: Question,
    wanted: PassageFilter,
    ranking: Sequence[Ranked],
    passages: dict[tuple[str, int], FoundPassage],
    cosines: Sequence[ScoredPoint],
    limit: int,
) -> Found:
    window = TimeWindow(wanted.after, wanted.before)
    kept = [
        (passage, each.score)
        for each in ranking
        if (passage := passages.get(each.place)) is not None and window.holds(passage.occurred_at)
    ]
    found = without_title_only(
        Found(
            question,
            [passage for passage, _ in kept],
            [score for _, score in kept],
            {point.id: point.score for point in cosines},
        )
    )
    return replace(found, passages=found.passages[:limit], scores=found.scores[:limit])
