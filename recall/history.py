"""recall_chat_history: questions about past chats, answered with citations.

The contract (names, defaults, limits) is the reference system's: one `query` or up to 15
`queries`, each with its own bounds, budget and mode.
"""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any

from pydantic import Field

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import ReadSession
from backread.store.repositories.retrieval import (
    FoundPassage,
    PassageFilter,
    count_conversations,
)
from backread.telemetry.spans import span
from recall.citations import question_places, render, speaker, with_questions
from recall.dates.window import zone_named
from recall.evidence import weigh
from recall.fitting import fitted
from recall.found import Found
from recall.links import reader_link
from recall.not_found import not_found
from recall.query import Question, context_text, understand
from recall.rendering import NOTICE, days, envelope, one_line
from recall.reranking import known_or_read, with_replies
from recall.retrieval import Mode, passage_filter, retrieve
from recall.synthesis import Statement, Synthesis, synthesise
from recall.timeline import as_span, found_within, in_order, rest_of, span_question
from recall.wire import ResultModel, WireModel
from recall.wording import in_words

DEFAULT_TOKENS = 600
MAX_TOKENS = 2000
MAX_QUERIES = 15
MAX_HISTORY = 50
MAX_QUERY_CHARACTERS = 4000

# Passages that an answer is chosen from: some, and more for a larger budget.
_PASSAGES: dict[Mode, int] = {"speed": 12, "quality": 30}
_TOKENS_PER_PASSAGE = 50
_PER_CONVERSATION = 5


class Turn(WireModel):
    """One turn of the dialogue that the question comes from."""

    role: str
    content: str


class RecallQuery(WireModel):
    """One question and how to answer it."""

    query: str | None = None
    max_tokens: int | None = None
    after: str | None = None
    before: str | None = None
    mode: str | None = None
    platform: str | None = None
    conversation_context: str | None = None
    conversation_history: list[Turn] | None = None


class RecallRequest(RecallQuery):
    """A call of recall_chat_history. What stands beside `queries` is the default of each.

    `asked_at` anchors words like "yesterday"; now when it is left out. A call that gives it is
    answered as of then: from what had been said by that time, and no chat without a date.
    """

    queries: list[RecallQuery] | None = None
    asked_at: datetime | None = None


class RecallStatement(ResultModel):
    """A sentence as it was said, and exactly where. With a language model it may be in the
    model's words: then `inOwnWords` is false, and the cited messages support it."""

    text: str
    source: int
    conversation_id: str
    message_id: str
    platform: str
    role: str
    speaker: str
    date: datetime | None
    reader_url: str
    document: str = Field(default="", description="The artifact or attachment that says it.")
    asked: str = Field(
        default="", description="The user's question that the statement answers, where known."
    )
    in_own_words: bool = Field(
        default=True, description="False: put into words by a model from what it cites."
    )
    differs: int = Field(
        default=0,
        description="Statements of one answer with the same number contradict each other.",
    )


class RecallAnswer(ResultModel):
    """What past chats say to one query. `summary` cites `sources` by number."""

    query: str
    found: bool
    summary: str
    statements: list[RecallStatement]
    after: datetime | None = None
    before: datetime | None = None
    conversations_searched: int
    conversations_total: int
    tokens: int


class RecallSource(ResultModel):
    """A conversation that is cited."""

    number: int
    conversation_id: str
    title: str
    platform: str
    first_message_at: datetime | None
    last_message_at: datetime | None
    message_ids: list[str]
    reader_url: str
    original_url: str
    score: float


class RecallResult(ResultModel):
    """Answers in the order of the queries, and the conversations that they cite."""

    answers: list[RecallAnswer]
    sources: list[RecallSource]
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: the answers and their sources, marked as data."""
        parts = []
        for answer in self.answers:
            heading = f"Query: {one_line(answer.query, 300)}\n" if len(self.answers) > 1 else ""
            parts.append(heading + answer.summary)
        if self.sources:
            lines = [
                f"[{source.number}] “{source.title}” · {source.platform} · "
                f"{days(source.first_message_at, source.last_message_at)} · conversationId "
                f"{source.conversation_id} · {source.reader_url}"
                for source in self.sources
            ]
            parts.append("Sources:\n" + "\n".join(lines))
        return envelope(parts)


def recall_chat_history(
    kernel: Kernel, principal: Principal, request: RecallRequest
) -> RecallResult:
    """Raises InvalidInput or LimitExceeded for a request outside the contract."""
    queries = _queries(request)
    asked_at = request.asked_at or utcnow()
    with span("recall.understand", queries=len(queries)):
        questions = [_question(query, principal, asked_at, request.asked_at) for query in queries]
    with span("recall.retrieve", queries=len(queries)):
        found = _retrieve(kernel, principal, queries, questions)
    with span("recall.replies"), kernel.store.read() as session:
        found = with_replies(session, principal.account_id, found)
    budgets = [query.max_tokens or DEFAULT_TOKENS for query in queries]
    with span("recall.synthesise", tokens=sum(budgets)):
        syntheses = [_synthesis(each, budget) for each, budget in zip(found, budgets, strict=True)]
    with span("recall.words"):
        syntheses = in_words(kernel, principal.account_id, found, syntheses, budgets)
    with span("recall.count"), kernel.store.read() as session:
        counts = _count(session, principal, questions)
        places = question_places(syntheses)
        asked_before = known_or_read(session, principal.account_id, found, places)
    zone = zone_named(principal.timezone)
    syntheses = [
        fitted(with_questions(each, asked_before), budget, zone)
        for each, budget in zip(syntheses, budgets, strict=True)
    ]
    sources = _Sources(kernel.settings.origin, zone)
    answers = [
        _answer(each, synthesis, budget, sources, counts[each.question])
        for each, synthesis, budget in zip(found, syntheses, budgets, strict=True)
    ]
    return RecallResult(answers=answers, sources=sources.listed())


def _synthesis(found: Found, budget: int) -> Synthesis:
    if found.question.is_span:
        return in_order(found, budget)
    return synthesise(found, budget) if weigh(found).is_enough else Synthesis([], budget)


def _retrieve(
    kernel: Kernel,
    principal: Principal,
    queries: Sequence[RecallQuery],
    questions: Sequence[Question],
) -> list[Found]:
    """All queries of one mode in one go; those that ask for nothing but a time by themselves."""
    answers: list[Found | None] = [
        found_within(kernel, principal, question) if question.is_span else None
        for question in questions
    ]
    for mode, limit in _PASSAGES.items():
        places = [
            n
            for n, query in enumerate(queries)
            if not questions[n].is_span and (query.mode or "speed") == mode
        ]
        if places:
            budget = max(queries[n].max_tokens or DEFAULT_TOKENS for n in places)
            found = retrieve(
                kernel,
                principal,
                [questions[n] for n in places],
                limit=limit + budget // _TOKENS_PER_PASSAGE,
                mode=mode,
                per_conversation=_PER_CONVERSATION,
            )
            for place, each in zip(places, found, strict=True):
                answers[place] = each
    return [each for each in answers if each is not None]


def _queries(request: RecallRequest) -> list[RecallQuery]:
    has_query = request.query is not None
    asks_for_a_time = bool(request.after or request.before) and request.queries is None
    if has_query == (request.queries is not None) and not (asks_for_a_time and not has_query):
        raise InvalidInput(
            "Give either `query` or `queries`, not both and not neither.",
            hint="Use `query` for one question, `queries` for up to 15 at once; or only `after` "
            "and `before` for all that was said in that time.",
        )
    if request.queries is None:
        queries: list[RecallQuery] = [request]
    else:
        if not 1 <= len(request.queries) <= MAX_QUERIES:
            raise LimitExceeded(
                f"`queries` holds {len(request.queries)} queries; 1 to {MAX_QUERIES} are allowed.",
                hint="Split the call, or leave `queries` out and use `query`.",
            )
        defaults = request.model_dump(exclude_none=True, by_alias=False, exclude={"queries"})
        queries = [
            RecallQuery(**(defaults | each.model_dump(exclude_none=True, by_alias=False)))
            for each in request.queries
        ]
    for query in queries:
        _check(query)
    return queries


def _check(query: RecallQuery) -> None:
    if not (query.query or "").strip() and not (query.after or query.before):
        raise InvalidInput(
            "The query is empty.",
            hint="Say what to look for, or give `after` or `before` for all of that time.",
        )
    if len(query.query or "") > MAX_QUERY_CHARACTERS:
        raise LimitExceeded(f"A query may have {MAX_QUERY_CHARACTERS} characters at most.")
    if query.max_tokens is not None and not 1 <= query.max_tokens <= MAX_TOKENS:
        raise LimitExceeded(
            f"`maxTokens` is {query.max_tokens}; 1 to {MAX_TOKENS} are allowed.",
            hint=f"Leave it out for {DEFAULT_TOKENS}.",
        )
    if query.mode is not None and query.mode not in _PASSAGES:
        raise InvalidInput('`mode` must be "speed" or "quality".')
    if len(query.conversation_history or ()) > MAX_HISTORY:
        raise LimitExceeded(
            f"`conversationHistory` may hold {MAX_HISTORY} turns at most.",
            hint="Send the most recent turns only.",
        )


def _question(
    query: RecallQuery, principal: Principal, asked_at: datetime, as_of: datetime | None
) -> Question:
    if not (query.query or "").strip():
        return span_question(query.after, query.before, query.platform)
    turns = [(turn.role, turn.content) for turn in query.conversation_history or ()]
    question = understand(
        query.query or "",
        asked_at=asked_at,
        as_of=as_of,
        zone=principal.timezone,
        after=query.after,
        before=query.before,
        platform=query.platform,
        context=context_text(query.conversation_context or "", turns),
    )
    return as_span(question)


class _Sources:
    """Numbers the cited conversations of one response, in order of first citation."""

    def __init__(self, origin: str, zone: tzinfo) -> None:
        self.origin = origin
        self.zone = zone
        self.numbers: dict[str, int] = {}
        self._fields: dict[str, dict[str, Any]] = {}

    def cite(self, passage: FoundPassage, score: float) -> int:
        conversation_id = passage.conversation_id
        if conversation_id not in self.numbers:
            self.numbers[conversation_id] = len(self.numbers) + 1
            self._fields[conversation_id] = {
                "conversation_id": conversation_id,
                "title": one_line(passage.title) or "Untitled",
                "platform": passage.platform,
                "first_message_at": passage.first_message_at,
                "last_message_at": passage.last_message_at,
                "message_ids": [],
                "reader_url": reader_link(self.origin, conversation_id, passage.message_id),
                "original_url": passage.url,
                "score": 0.0,
            }
        fields = self._fields[conversation_id]
        if passage.message_id not in fields["message_ids"]:
            fields["message_ids"].append(passage.message_id)
        fields["score"] = max(fields["score"], round(score, 4))
        return self.numbers[conversation_id]

    def listed(self) -> list[RecallSource]:
        return [RecallSource(number=n, **self._fields[each]) for each, n in self.numbers.items()]


def _count(
    session: ReadSession, principal: Principal, questions: Sequence[Question]
) -> dict[Question, tuple[int, int]]:
    """Conversations searched for each question, of how many."""
    counted: dict[PassageFilter, tuple[int, int]] = {}
    for question in questions:
        wanted = passage_filter(principal, question)
        if wanted not in counted:
            counted[wanted] = count_conversations(session, wanted)
    return {question: counted[passage_filter(principal, question)] for question in questions}


def _answer(
    found: Found, synthesis: Synthesis, budget: int, sources: _Sources, counts: tuple[int, int]
) -> RecallAnswer:
    question = found.question
    searched, total = counts
    score_of = dict(zip((each.id for each in found.passages), found.scores, strict=True))
    statements = synthesis.statements
    cited = []
    for each in statements:
        cited.append(sources.cite(each.passage, score_of.get(each.passage.id, 0.0)))
        for other in each.others:
            sources.cite(other, score_of[other.id])
    return RecallAnswer(
        query=question.text,
        found=bool(statements),
        summary=(
            render(statements, sources.numbers, sources.zone)
            + (rest_of(synthesis, searched) if question.is_span else "")
            if statements
            else not_found(question, searched, total)
        ),
        statements=[
            _statement(each, number, sources.origin)
            for each, number in zip(statements, cited, strict=True)
        ],
        after=question.time.after if question.is_time_strict else None,
        before=question.time.before if question.is_time_strict else None,
        conversations_searched=searched,
        conversations_total=total,
        tokens=budget - synthesis.left,
    )


def _statement(statement: Statement, source: int, origin: str) -> RecallStatement:
    passage = statement.passage
    return RecallStatement(
        text=statement.text,
        source=source,
        conversation_id=passage.conversation_id,
        message_id=passage.message_id,
        platform=passage.platform,
        role=passage.role,
        speaker=speaker(passage),
        date=passage.occurred_at,
        reader_url=reader_link(origin, passage.conversation_id, passage.message_id),
        document=one_line(passage.document),
        asked=statement.asked,
        differs=statement.conflict,
        in_own_words=not statement.is_worded,
    )
