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
    PassageFilter,
    count_conversations,
    passages_at,
)
from recall.citations import question_places, render, speaker, with_questions
from recall.dates.window import zone_named
from recall.evidence import weigh
from recall.found import Found
from recall.links import reader_link
from recall.query import Question, context_text, understand
from recall.rendering import NOTICE, day, days, envelope, one_line
from recall.reranking import with_replies
from recall.search import Mode, passage_filter, retrieve
from recall.synthesis import Statement, Synthesis, synthesise
from recall.wire import ResultModel, WireModel

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

    `asked_at` anchors words like "yesterday"; now when it is left out.
    """

    queries: list[RecallQuery] | None = None
    asked_at: datetime | None = None


class RecallStatement(ResultModel):
    """A sentence as it was said, and exactly where."""

    text: str
    source: int
    conversation_id: str
    message_id: str
    platform: str
    role: str
    speaker: str
    date: datetime | None
    reader_url: str
    asked: str = Field(
        default="", description="The user's question that the statement answers, where known."
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
    questions = [_question(query, principal, asked_at) for query in queries]
    found = _retrieve(kernel, principal, queries, questions)
    with kernel.store.read() as session:
        found = with_replies(session, principal.account_id, found)
    budgets = [query.max_tokens or DEFAULT_TOKENS for query in queries]
    syntheses = [
        synthesise(each, budget) if weigh(each).is_enough else Synthesis([], budget)
        for each, budget in zip(found, budgets, strict=True)
    ]
    with kernel.store.read() as session:
        counts = _count(session, principal, questions)
        asked_before = passages_at(session, principal.account_id, question_places(syntheses))
    syntheses = [with_questions(each, asked_before) for each in syntheses]
    sources = _Sources(kernel.settings.origin, zone_named(principal.timezone))
    answers = [
        _answer(each, synthesis, budget, sources, counts[each.question])
        for each, synthesis, budget in zip(found, syntheses, budgets, strict=True)
    ]
    return RecallResult(answers=answers, sources=sources.listed())


def _retrieve(
    kernel: Kernel,
    principal: Principal,
    queries: Sequence[RecallQuery],
    questions: Sequence[Question],
) -> list[Found]:
    """All queries of one mode in one go."""
    answers: list[Found | None] = [None] * len(queries)
    for mode, limit in _PASSAGES.items():
        places = [n for n, query in enumerate(queries) if (query.mode or "speed") == mode]
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
    if (request.query is None) == (request.queries is None):
        raise InvalidInput(
            "Give either `query` or `queries`, not both and not neither.",
            hint="Use `query` for one question, `queries` for up to 15 at once.",
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
    if not (query.query or "").strip():
        raise InvalidInput("The query is empty.", hint="Say what to look for.")
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


def _question(query: RecallQuery, principal: Principal, asked_at: datetime) -> Question:
    turns = [(turn.role, turn.content) for turn in query.conversation_history or ()]
    return understand(
        query.query or "",
        asked_at=asked_at,
        zone=principal.timezone,
        after=query.after,
        before=query.before,
        platform=query.platform,
        context=context_text(query.conversation_context or "", turns),
    )


class _Sources:
    """Numbers the cited conversations of one response, in order of first citation."""

    def __init__(self, origin: str, zone: tzinfo) -> None:
        self.origin = origin
        self.zone = zone
        self._numbers: dict[str, int] = {}
        self._fields: dict[str, dict[str, Any]] = {}

    def cite(self, statement: Statement, score: float) -> int:
        passage = statement.passage
        conversation_id = passage.conversation_id
        if conversation_id not in self._numbers:
            self._numbers[conversation_id] = len(self._numbers) + 1
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
        return self._numbers[conversation_id]

    @property
    def numbers(self) -> dict[str, int]:
        return self._numbers

    def listed(self) -> list[RecallSource]:
        return [
            RecallSource(number=number, **self._fields[conversation_id])
            for conversation_id, number in self._numbers.items()
        ]


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
    cited = [sources.cite(each, score_of[each.passage.id]) for each in statements]
    return RecallAnswer(
        query=question.text,
        found=bool(statements),
        summary=(
            render(statements, sources.numbers, sources.zone)
            if statements
            else _not_found(question, searched, total)
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
        asked=statement.asked,
        differs=statement.conflict,
    )


def _not_found(question: Question, searched: int, total: int) -> str:
    """Names what was searched, so that silence is an answer."""
    scope = f"{searched} of {total} conversations"
    where = f" on {', '.join(question.platforms)}" if question.platforms else ""
    if total == 0:
        return "Nothing found: no conversations have been imported yet."
    has_window = question.is_time_strict and (question.time.after or question.time.before)
    if searched == 0:
        what = "Nothing in that window" if has_window else "Nothing there"
        return f"{what}{where} ({scope}){_window_words(question) if has_window else ''}."
    if has_window:
        return f"Not found in that window{where} ({scope} searched){_window_words(question)}."
    return f"Not found{where}: nothing in the {scope} searched answers this."


def _window_words(question: Question) -> str:
    after, before = question.time.after, question.time.before
    if after and before:
        return f", from {day(after)} to {day(before)} UTC"
    return f", from {day(after)} UTC" if after else f", up to {day(before)} UTC"
