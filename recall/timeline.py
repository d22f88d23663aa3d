"""Everything between two times, when nothing is asked for but the time.

A call of recall_chat_history with `after` or `before` and no query is answered with the
conversations of that span in order: how each begins there, with its source. Nothing is ranked.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import Field

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.store.fulltext import words
from backread.store.repositories.retrieval import FoundPassage, PassageFilter, passages_at
from backread.store.repositories.timeline import count_stays, stays_within
from backread.tokens import estimate_tokens
from recall.dates.reading import language_of
from recall.dates.window import TimeWindow
from recall.found import Found
from recall.links import reader_link
from recall.query import QUESTION_WORDS, Question, platform_slugs, read_bound
from recall.rendering import one_line
from recall.sentences import sentences
from recall.synthesis import SOURCE_OVERHEAD, SPEAKER_OVERHEAD, Statement, Synthesis
from recall.wire import ResultModel

MAX_RESULTS = 200
_MOST_SHOWN = 100  # conversations of one answer; its budget seldom has room for so many
_GIST_CHARACTERS = 240
# Beside question words: what somebody says who asks for everything of a time.
_ANYTHING = frozenset(
    """talk talking discussing chat chats chatted chatting conversation conversations discussion
    discussions everything anything thing things topic topics happened list show summarize
    summarise summary""".split()  # noqa: SIM905 - easier to read
)
_CITED_SOURCE_TOKENS = 40  # of the line that names a conversation below the answer


class TimelineEntry(ResultModel):
    """A conversation inside the span, and how it begins there."""

    conversation_id: str
    message_id: str
    title: str
    platform: str
    first_at: datetime
    last_at: datetime
    passages: int
    opening: str
    reader_url: str
    original_url: str


class Timeline(ResultModel):
    """Conversations of a span in order of time."""

    after: datetime | None
    before: datetime | None
    entries: list[TimelineEntry]
    total: int = Field(description="Conversations in the span, on all pages.")
    offset: int


@dataclass(frozen=True, slots=True)
class _Opening:
    passage: FoundPassage
    first_at: datetime
    last_at: datetime
    passages: int


def browse(
    kernel: Kernel,
    principal: Principal,
    *,
    after: str | None = None,
    before: str | None = None,
    platform: str | None = None,
    offset: int = 0,
    limit: int = 50,
) -> Timeline:
    """A page of the span. Raises InvalidInput without a bound, or for one that cannot be read."""
    question = span_question(after, before, platform)
    wanted = _filter(principal, question)
    with kernel.store.read() as session:
        total = count_stays(session, wanted)
    openings = _openings(kernel, wanted, limit=min(limit, MAX_RESULTS), offset=offset)
    return Timeline(
        after=question.time.after,
        before=question.time.before,
        entries=[_entry(each, kernel.settings.origin) for each in openings],
        total=total,
        offset=offset,
    )


def span_question(after: str | None, before: str | None, platform: str | None) -> Question:
    """A question that asks for nothing but a time. Raises InvalidInput without a bound, for one
    that cannot be read, and for a span that ends before it begins."""
    time = TimeWindow(
        read_bound(after, "after") if after else None,
        read_bound(before, "before") if before else None,
    )
    if time.after is None and time.before is None:
        raise InvalidInput("The query is empty.", hint="Say what to look for, or a time.")
    if time.after and time.before and time.after > time.before:
        raise InvalidInput(
            f"`after` ({after}) is later than `before` ({before}).",
            hint="Swap the two, or leave one out.",
        )
    return Question(
        text="",
        lexical="",
        dense="",
        phrases=(),
        excluded=(),
        time=time,
        is_time_strict=True,
        is_exact=False,
        platforms=platform_slugs(platform),
        is_span=True,
    )


def as_span(question: Question) -> Question:
    """ "What did I talk about last week?" asks for all of that time and has no other word to
    look for: nothing could be ranked by it. Other questions stay as they are."""
    time = question.time
    if question.phrases or (time.after is None and time.before is None):
        return question
    language = language_of(question.text)
    asking = QUESTION_WORDS if language is None else language.question_words
    rest = words(question.text.replace(time.phrase, " ") if time.phrase else question.text)
    if any(each not in asking and each not in _ANYTHING for each in rest):
        return question
    return replace(question, is_time_strict=True, is_span=True)


def found_within(kernel: Kernel, principal: Principal, question: Question) -> Found:
    """The opening passage of each conversation in the span, in order of time."""
    openings = _openings(kernel, _filter(principal, question), limit=_MOST_SHOWN, offset=0)
    passages = [each.passage for each in openings]
    return Found(question, passages, [1.0] * len(passages), {})


def in_order(found: Found, max_tokens: int) -> Synthesis:
    """As many openings, in order, as the budget holds with their citations."""
    left = max_tokens
    statements: list[Statement] = []
    for order, passage in enumerate(found.passages):
        text = _gist(passage.text)
        cost = estimate_tokens(text) + SOURCE_OVERHEAD + SPEAKER_OVERHEAD + _CITED_SOURCE_TOKENS
        if cost > left and statements:
            break
        left -= cost
        statements.append(Statement(text, passage, 1.0, order))
    return Synthesis(statements, max(0, left))


def rest_of(synthesis: Synthesis, searched: int) -> str:
    """How to go on when not all conversations of the span were named; else empty."""
    missing = searched - len(synthesis.statements)
    if missing <= 0 or not synthesis.statements:
        return ""
    last = synthesis.statements[-1].passage.occurred_at
    goes_on = f"call again with after {last.isoformat()}" if last else "narrow the time"
    return f"\n… and {missing} more conversations in that time; {goes_on}, or add a query."


def _filter(principal: Principal, question: Question) -> PassageFilter:
    return PassageFilter(
        principal.account_id, question.time.after, question.time.before, question.platforms
    )


def _openings(kernel: Kernel, wanted: PassageFilter, *, limit: int, offset: int) -> list[_Opening]:
    with kernel.store.read() as session:
        stays = stays_within(session, wanted, limit=limit, offset=offset)
        found = passages_at(
            session, wanted.account_id, [(each.conversation_id, each.position) for each in stays]
        )
    return [
        _Opening(
            found[(each.conversation_id, each.position)],
            each.first_at,
            each.last_at,
            each.passages,
        )
        for each in stays
        if (each.conversation_id, each.position) in found
    ]


def _gist(text: str) -> str:
    """How a message begins, in its own words."""
    return one_line(next(sentences(text), "") or text, _GIST_CHARACTERS)


def _entry(opening: _Opening, origin: str) -> TimelineEntry:
    passage = opening.passage
    return TimelineEntry(
        conversation_id=passage.conversation_id,
        message_id=passage.message_id,
        title=one_line(passage.title) or "Untitled",
        platform=passage.platform,
        first_at=opening.first_at,
        last_at=opening.last_at,
        passages=opening.passages,
        opening=_gist(passage.text),
        reader_url=reader_link(origin, passage.conversation_id, passage.message_id),
        original_url=passage.url,
    )
