"""search(): from questions to ranked passages. The one public entry to retrieval.

Filters hold before ranking. All questions of a call are embedded in one batch and asked of the
index in one call.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pydantic import Field

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import ReadSession
from backread.store.fulltext import WordQuery
from backread.store.repositories.retrieval import (
    FoundPassage,
    PassageFilter,
    PassagePlace,
    count_conversations,
    passages_at,
    places_of,
    search_words,
)
from backread.vectors.index import Collection, IndexFilter, ScoredPoint
from recall import dense, lexical
from recall.dates.window import TimeWindow
from recall.evidence import related
from recall.found import Found
from recall.fusion import Ranked, Weights, diversified, fuse
from recall.links import reader_link
from recall.query import Question, understand
from recall.reranking import without_title_only
from recall.wire import ResultModel, WireModel

MAX_RESULTS = 100

# How many points each leg gives to the fusion.
_DEPTH = {"speed": 150, "quality": 400}
_PHRASE_DEPTH = 1000
_PER_CONVERSATION = 8
_EXCERPT_CHARACTERS = 600

Mode = Literal["speed", "quality"]


class SearchQuery(WireModel):
    """What a person types into the search box, with its filters.

    Quoted phrases must occur exactly, `-word` must not. Bounds are ISO 8601 and inclusive.
    """

    text: str = Field(min_length=1, max_length=2000)
    after: str | None = None
    before: str | None = None
    platform: str | None = None
    limit: int = Field(default=20, ge=1, le=MAX_RESULTS)
    mode: Mode = "speed"
    asked_at: datetime | None = None


class SearchHit(ResultModel):
    """A passage that was found, and where to read it."""

    conversation_id: str
    message_id: str
    title: str
    platform: str
    role: str
    occurred_at: datetime | None
    text: str
    score: float
    reader_url: str
    original_url: str


class SearchResult(ResultModel):
    """Hits, best first, and what was searched."""

    query: str
    hits: list[SearchHit]
    after: datetime | None
    before: datetime | None
    conversations_searched: int
    conversations_total: int

    @property
    def text(self) -> str:
        """For a terminal or a log: one block a hit."""
        if not self.hits:
            return (
                f"Nothing found ({self.conversations_searched} of {self.conversations_total} "
                "conversations searched)."
            )
        lines = []
        for number, hit in enumerate(self.hits, start=1):
            date = hit.occurred_at.strftime("%Y-%m-%d") if hit.occurred_at else "no date"
            lines.append(f"{number}. {hit.title} · {hit.platform} · {date}\n   {hit.reader_url}")
            lines.append("   " + hit.text.replace("\n", "\n   "))
        return "\n".join(lines)


def search(kernel: Kernel, principal: Principal, query: SearchQuery) -> SearchResult:
    """What has a word of the query or is near to it in meaning; nothing when nothing is.

    Raises InvalidInput for bounds that cannot be read and Unavailable if the index is away.
    """
    question = understand(
        query.text,
        asked_at=query.asked_at or utcnow(),
        zone=principal.timezone,
        after=query.after,
        before=query.before,
        platform=query.platform,
        operators=True,
    )
    found = related(retrieve(kernel, principal, [question], limit=query.limit, mode=query.mode)[0])
    with kernel.store.read() as session:
        searched, total = count_conversations(session, passage_filter(principal, question))
    return SearchResult(
        query=query.text,
        hits=[
            _hit(kernel.settings.origin, passage, score)
            for passage, score in zip(found.passages, found.scores, strict=True)
        ],
        after=question.time.after,
        before=question.time.before,
        conversations_searched=searched,
        conversations_total=total,
    )


def retrieve(
    kernel: Kernel,
    principal: Principal,
    questions: Sequence[Question],
    *,
    limit: int,
    mode: Mode = "speed",
    weights: Weights | None = None,
    per_conversation: int = _PER_CONVERSATION,
) -> list[Found]:
    """For each question up to `limit` passages, best first."""
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
        timed = any(_preference(question) is not None for question in questions)
        places = places_of(session, principal.account_id, ids, timed=timed)
        rankings = []
        for number, question in enumerate(questions):
            ranked = fuse(
                by_words[number],
                by_meaning[number],
                places,
                weights,
                is_preferred=_preference(question),
            )
            if question.has_operators:
                ranked = _with_operators(session, filters[number], question, ranked)
            rankings.append(diversified(ranked, per_conversation, limit + _spare(limit)))
        wanted = {each.place for ranking in rankings for each in ranking}
        passages = passages_at(session, principal.account_id, wanted)
    return [
        _found(question, wanted_by, ranking, passages, cosines, limit)
        for question, wanted_by, ranking, cosines in zip(
            questions, filters, rankings, by_meaning, strict=True
        )
    ]


def _ask_index(
    kernel: Kernel,
    questions: Sequence[Question],
    filters: Sequence[PassageFilter],
    depth: int,
) -> tuple[list[list[ScoredPoint]], list[list[ScoredPoint]]]:
    vectors = dense.embed(kernel.embedder, questions)
    queries = []
    for question, wanted, vector in zip(questions, filters, vectors, strict=True):
        within = IndexFilter(
            account_id=wanted.account_id,
            after=wanted.after,
            before=wanted.before,
            platforms=wanted.platforms,
        )
        queries.append(lexical.index_query(question, within, depth))
        queries.append(dense.index_query(vector.tolist(), within, depth))
    answers = kernel.index.search(Collection.PASSAGES, queries)
    return answers[0::2], answers[1::2]


def passage_filter(principal: Principal, question: Question) -> PassageFilter:
    """What may be found for a question."""
    strict = question.is_time_strict
    return PassageFilter(
        account_id=principal.account_id,
        after=question.time.after if strict else None,
        before=question.time.before if strict else None,
        platforms=question.platforms,
    )


def _spare(limit: int) -> int:
    """How many passages more are looked at than asked for: some are gone meanwhile, of the
    neighbours many may lie outside of a window, and some match by their title alone."""
    return limit + 10


def _preference(question: Question) -> "_InWindow | None":
    if question.is_time_strict or (question.time.after is None and question.time.before is None):
        return None
    return _InWindow(question.time)


@dataclass(frozen=True, slots=True)
class _InWindow:
    window: TimeWindow

    def __call__(self, place: PassagePlace) -> bool:
        return self.window.holds(place.occurred_at)


def _with_operators(
    session: ReadSession, wanted: PassageFilter, question: Question, ranked: Sequence[Ranked]
) -> list[Ranked]:
    """Quoted phrases and excluded words, checked by full text."""
    if question.phrases:
        return _with_phrases(session, wanted, question, ranked)
    passages = passages_at(session, wanted.account_id, {each.place for each in ranked})
    ids = {passage.id: place for place, passage in passages.items()}
    unwanted = WordQuery(any_of=question.excluded)
    barred = {
        ids[each]
        for each, _ in search_words(session, wanted, unwanted, limit=len(ids), among=list(ids))
    }
    return [each for each in ranked if each.place not in barred]


def _with_phrases(
    session: ReadSession, wanted: PassageFilter, question: Question, ranked: Sequence[Ranked]
) -> list[Ranked]:
    matches = search_words(session, wanted, question.all_phrases(), limit=_PHRASE_DEPTH)
    places = places_of(session, wanted.account_id, [each for each, _ in matches])
    holding = [
        (place.conversation_id, place.position)
        for each, _ in matches
        if (place := places.get(each)) is not None
    ]
    score_of = {each.place: each.score for each in ranked}
    top = max(score_of.values(), default=1.0)
    # Those that the ranking does not know follow in the order of full text.
    scored = {
        place: score_of.get(place, 0.01 * top * (len(holding) - order) / len(holding))
        for order, place in enumerate(holding)
    }
    if not question.is_exact:
        scored = {**score_of, **{place: score + top for place, score in scored.items()}}
    found = [Ranked(place, score) for place, score in scored.items()]
    return sorted(found, key=lambda each: (-each.score, each.place))


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


def _hit(origin: str, passage: FoundPassage, score: float) -> SearchHit:
    text = passage.text
    if len(text) > _EXCERPT_CHARACTERS:
        text = text[:_EXCERPT_CHARACTERS].rsplit(" ", 1)[0] + " …"
    return SearchHit(
        conversation_id=passage.conversation_id,
        message_id=passage.message_id,
        title=passage.title,
        platform=passage.platform,
        role=passage.role,
        occurred_at=passage.occurred_at,
        text=text,
        score=round(score, 4),
        reader_url=reader_link(origin, passage.conversation_id, passage.message_id),
        original_url=passage.url,
    )
