"""What lists and the reader ask for: conversations page by page, and the messages of one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, and_, cast, func, or_, select

from backread.domain import MessageKind, Principal, Role
from backread.errors import NotFound
from backread.store.engine import ReadSession
from backread.store.models import Conversation, Message

# Undated conversations sort as if they were older than everything.
_UNDATED = datetime(1900, 1, 1, tzinfo=UTC)
_OUTLINE_CHARACTERS = 140


class ConversationOrder(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"
    TITLE = "title"
    LONGEST = "longest"


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """Empty fields do not filter. `title` is part of a title, in any case of letters.
    `has_secrets`: only those whose messages hold keys or passwords."""

    platform: str = ""
    title: str = ""
    has_secrets: bool = False
    order: ConversationOrder = ConversationOrder.NEWEST


@dataclass(frozen=True, slots=True)
class ListPosition:
    """The last row already seen: the value it was sorted by, and its id."""

    value: str | int | datetime
    id: str


@dataclass(frozen=True, slots=True)
class ArchiveTotals:
    conversations: int = 0
    messages: int = 0
    platforms: dict[str, int] = field(default_factory=dict)  # slug -> conversations
    earliest_at: datetime | None = None
    latest_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ArtifactMessage:
    """A message with an artifact among its asides, without its text."""

    id: str
    position: int
    on_shown_line: bool
    created_at: datetime | None
    asides: list[Any]


@dataclass(frozen=True, slots=True)
class MessageNode:
    """A message's place in its conversation's tree, without its text."""

    id: str
    parent_id: str | None
    on_shown_line: bool
    role: str
    kind: str
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """The beginning of something the user said."""

    message_id: str
    text: str


def archive_totals(session: ReadSession, principal: Principal) -> ArchiveTotals:
    """How much the account has, per platform and in all."""
    rows = session.execute(
        select(
            Conversation.platform,
            func.count(),
            func.sum(Conversation.message_count),
            func.min(Conversation.first_message_at),
            func.max(Conversation.last_message_at),
        )
        .where(Conversation.account_id == principal.account_id)
        .group_by(Conversation.platform)
    ).all()
    rows = sorted(rows, key=lambda row: (-row[1], row[0]))
    return ArchiveTotals(
        conversations=sum(row[1] for row in rows),
        messages=sum(int(row[2] or 0) for row in rows),
        platforms={row[0]: row[1] for row in rows},
        earliest_at=min((row[3] for row in rows if row[3]), default=None),
        latest_at=max((row[4] for row in rows if row[4]), default=None),
    )


def list_conversations(
    session: ReadSession,
    principal: Principal,
    wanted: ConversationFilter,
    *,
    after: ListPosition | None = None,
    limit: int = 50,
) -> list[Conversation]:
    """The conversations that follow `after` in the wanted order."""
    key, descending = _sort_key(wanted.order)
    query: Select[Any] = select(Conversation).where(*_conditions(principal, wanted))
    if after is not None:
        beyond = key < after.value if descending else key > after.value
        beyond_id = Conversation.id < after.id if descending else Conversation.id > after.id
        query = query.where(or_(beyond, and_(key == after.value, beyond_id)))
    if descending:
        query = query.order_by(key.desc(), Conversation.id.desc())
    else:
        query = query.order_by(key, Conversation.id)
    return list(session.scalars(query.limit(limit)))


def count_conversations(
    session: ReadSession, principal: Principal, wanted: ConversationFilter
) -> int:
    """How many conversations the filter leaves."""
    query = select(func.count()).where(*_conditions(principal, wanted))
    return session.scalar(query) or 0


def _conditions(principal: Principal, wanted: ConversationFilter) -> list[ColumnElement[bool]]:
    conditions = [Conversation.account_id == principal.account_id]
    if wanted.platform:
        conditions.append(Conversation.platform == wanted.platform)
    if wanted.title:
        conditions.append(_title_holds(wanted.title))
    if wanted.has_secrets:
        conditions.append(Conversation.secret_count > 0)
    return conditions


def position_of(conversation: Conversation, order: ConversationOrder) -> ListPosition:
    """Where the conversation stands in that order, to go on after it."""
    value: str | int | datetime
    if order is ConversationOrder.TITLE:
        value = conversation.title
    elif order is ConversationOrder.LONGEST:
        value = conversation.message_count
    else:
        value = conversation.last_message_at or _UNDATED
    return ListPosition(value, conversation.id)


def find_conversation(
    session: ReadSession, principal: Principal, conversation_id: str
) -> Conversation:
    """Raises NotFound when there is none, or it is another account's."""
    found = session.scalar(
        select(Conversation).where(
            Conversation.account_id == principal.account_id, Conversation.id == conversation_id
        )
    )
    if found is None:
        raise NotFound(
            "There is no such conversation.", hint="It may have been deleted, or the link is old."
        )
    return found


def message_tree(
    session: ReadSession, principal: Principal, conversation_id: str
) -> list[MessageNode]:
    """Every message of the conversation in stored order: the shown line, then other branches."""
    rows = session.execute(
        select(
            Message.id,
            Message.parent_id,
            Message.on_shown_line,
            Message.role,
            Message.kind,
            Message.created_at,
        )
        .where(
            Message.account_id == principal.account_id,
            Message.conversation_id == conversation_id,
        )
        .order_by(Message.position)
    )
    return [MessageNode(*row) for row in rows]


def messages_by_id(
    session: ReadSession, principal: Principal, conversation_id: str, ids: Sequence[str]
) -> dict[str, Message]:
    rows = session.scalars(
        select(Message).where(
            Message.account_id == principal.account_id,
            Message.conversation_id == conversation_id,
            Message.id.in_(ids),
        )
    )
    return {message.id: message for message in rows}


def messages_after(
    session: ReadSession, account_id: str, conversation_id: str, *, after: int, limit: int
) -> list[Message]:
    """The messages behind a position, on every branch, in stored order; -1 begins."""
    query = (
        select(Message)
        .where(
            Message.account_id == account_id,
            Message.conversation_id == conversation_id,
            Message.position > after,
        )
        .order_by(Message.position)
        .limit(limit)
    )
    return list(session.scalars(query))


def messages_with_artifacts(
    session: ReadSession, account_id: str, conversation_id: str
) -> list[ArtifactMessage]:
    """The messages that did something to an artifact, on every branch, in stored order."""
    rows = session.execute(
        select(
            Message.id,
            Message.position,
            Message.on_shown_line,
            Message.created_at,
            Message.asides,
        )
        .where(
            Message.account_id == account_id,
            Message.conversation_id == conversation_id,
            cast(Message.asides, Text).like('%"artifact": {%'),
        )
        .order_by(Message.position)
    )
    return [ArtifactMessage(*row) for row in rows]


def user_questions(
    session: ReadSession, principal: Principal, conversation_id: str
) -> list[Question]:
    """How each thing the user said begins, on every branch, in stored order."""
    rows = session.execute(
        select(Message.id, func.substr(Message.text, 1, _OUTLINE_CHARACTERS))
        .where(
            Message.account_id == principal.account_id,
            Message.conversation_id == conversation_id,
            Message.role == Role.USER,
            Message.kind == MessageKind.DIALOGUE,
        )
        .order_by(Message.position)
    )
    return [Question(message_id, text) for message_id, text in rows]


def _sort_key(order: ConversationOrder) -> tuple[ColumnElement[Any], bool]:
    if order is ConversationOrder.TITLE:
        return Conversation.title.expression, False
    if order is ConversationOrder.LONGEST:
        return Conversation.message_count.expression, True
    return func.coalesce(Conversation.last_message_at, _UNDATED), order is ConversationOrder.NEWEST


def _title_holds(text: str) -> ColumnElement[bool]:
    # SQLite folds only ASCII letters, so the usual spellings of other scripts are asked for too.
    spellings = {text, text.lower(), text.upper(), text.capitalize(), text.title()}
    return or_(*(Conversation.title.icontains(spelling, autoescape=True) for spelling in spellings))
