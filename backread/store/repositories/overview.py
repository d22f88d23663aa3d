"""The overview: what there is, the digests of conversations, and the portrait made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, func, literal, select, update

from backread.domain import MessageKind, Role
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Conversation, ConversationDigest, Message, Overview
from backread.store.repositories.chunks import chunks


@dataclass(frozen=True, slots=True)
class PlatformTotal:
    """All conversations of one platform."""

    platform: str
    conversations: int
    messages: int
    first_at: datetime | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class SpokenMessage:
    """A dialogue message of the shown line. `text` is the beginning of what the person said, ""
    of what the assistant did."""

    id: str
    conversation_id: str
    text: str
    created_at: datetime | None
    is_users: bool


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """When a conversation took place. `months` is None until it has a digest."""

    conversation_id: str
    messages: int
    first_at: datetime | None
    months: Mapping[str, int] | None
    language: str
    is_private: bool


def _up_to_date(made_with: str) -> ColumnElement[bool]:
    return and_(
        ConversationDigest.conversation_id == Conversation.id,
        ConversationDigest.made_with == made_with,
        ConversationDigest.source_changed_at == Conversation.changed_at,
    )


def platform_totals(session: ReadSession, account_id: str) -> list[PlatformTotal]:
    """Most conversations first."""
    count = func.count()
    rows = session.execute(
        select(
            Conversation.platform,
            count,
            func.sum(Conversation.message_count),
            func.min(Conversation.first_message_at),
            func.max(Conversation.last_message_at),
        )
        .where(Conversation.account_id == account_id)
        .group_by(Conversation.platform)
        .order_by(count.desc(), Conversation.platform)
    )
    return [PlatformTotal(row[0], row[1], int(row[2] or 0), row[3], row[4]) for row in rows]


def activity(session: ReadSession, account_id: str) -> list[ActivityRow]:
    """One row a conversation."""
    rows = session.execute(
        select(
            Conversation.id,
            Conversation.message_count,
            Conversation.first_message_at,
            ConversationDigest.months,
            ConversationDigest.language,
            ConversationDigest.is_private,
        )
        .outerjoin(ConversationDigest, ConversationDigest.conversation_id == Conversation.id)
        .where(Conversation.account_id == account_id)
    )
    return [ActivityRow(row[0], row[1], row[2], row[3], row[4] or "", bool(row[5])) for row in rows]


def conversations_to_digest(
    session: ReadSession, account_id: str, made_with: str, *, limit: int
) -> list[Conversation]:
    """Conversations that have no digest, or one of what they were before; newest first."""
    return list(
        session.scalars(
            select(Conversation)
            .outerjoin(ConversationDigest, _up_to_date(made_with))
            .where(
                Conversation.account_id == account_id,
                ConversationDigest.conversation_id.is_(None),
            )
            .order_by(Conversation.last_message_at.desc().nulls_last(), Conversation.id.desc())
            .limit(limit)
        )
    )


def count_to_digest(session: ReadSession, account_id: str, made_with: str) -> int:
    """How many conversations still have to be read."""
    statement = (
        select(func.count())
        .select_from(Conversation)
        .outerjoin(ConversationDigest, _up_to_date(made_with))
        .where(Conversation.account_id == account_id, ConversationDigest.conversation_id.is_(None))
    )
    return session.scalars(statement).one()


def has_digests(session: ReadSession, account_id: str) -> bool:
    """Whether any conversation was read yet."""
    statement = select(ConversationDigest.conversation_id).where(
        ConversationDigest.account_id == account_id
    )
    return session.scalar(statement.limit(1)) is not None


def spoken_messages(
    session: ReadSession,
    account_id: str,
    conversation_ids: Sequence[str],
    *,
    characters: int,
    most: int,
) -> dict[str, list[SpokenMessage]]:
    """By conversation, its dialogue in order. Of the first `most` messages the person's texts
    begin with so many characters; of later ones only the time is read."""
    is_users = Message.role == Role.USER
    text = case(
        (and_(is_users, Message.position < most), func.substr(Message.text, 1, characters)),
        else_=literal(""),
    )
    found: dict[str, list[SpokenMessage]] = {each: [] for each in conversation_ids}
    for some in chunks(conversation_ids):
        rows = session.execute(
            select(Message.id, Message.conversation_id, text, Message.created_at, is_users)
            .where(
                Message.account_id == account_id,
                Message.conversation_id.in_(some),
                Message.on_shown_line.is_(True),
                Message.kind == MessageKind.DIALOGUE,
            )
            .order_by(Message.conversation_id, Message.position)
        )
        for row in rows:
            found[row[1]].append(SpokenMessage(row[0], row[1], row[2], row[3], bool(row[4])))
    return found


def write_digests(session: WriteSession, digests: Sequence[ConversationDigest]) -> None:
    """Puts them in place of the former ones. A conversation that went meanwhile, or was changed
    since it was read, is passed over."""
    ids = [each.conversation_id for each in digests]
    there: dict[str, datetime] = {}
    for some in chunks(ids):
        rows = session.execute(
            select(Conversation.id, Conversation.changed_at).where(Conversation.id.in_(some))
        )
        there.update((row.id, row.changed_at) for row in rows)
        session.execute(
            delete(ConversationDigest)
            .where(ConversationDigest.conversation_id.in_(some))
            .execution_options(synchronize_session=False)
        )
    session.add_all(
        each for each in digests if there.get(each.conversation_id) == each.source_changed_at
    )


def digests_of(
    session: ReadSession, account_id: str, *, most: int
) -> list[tuple[ConversationDigest, Conversation]]:
    """The digests that may be told of, with their conversations, oldest first; of more than
    `most` the newest."""
    rows = session.execute(
        select(ConversationDigest, Conversation)
        .join(Conversation, Conversation.id == ConversationDigest.conversation_id)
        .where(
            ConversationDigest.account_id == account_id,
            ConversationDigest.is_private.is_(False),
        )
        .order_by(Conversation.last_message_at.desc().nulls_last(), Conversation.id.desc())
        .limit(most)
    )
    return [(digest, conversation) for digest, conversation in rows][::-1]


def conversations_cited(
    session: ReadSession, account_id: str, ids: Sequence[str]
) -> dict[str, Conversation]:
    """Those of the ids that are there and are the account's."""
    found: dict[str, Conversation] = {}
    for some in chunks(ids):
        query = select(Conversation).where(
            Conversation.account_id == account_id, Conversation.id.in_(some)
        )
        found.update({each.id: each for each in session.scalars(query)})
    return found


def overview_of(session: ReadSession, account_id: str) -> Overview | None:
    return session.get(Overview, account_id)


def count_in_overview(session: ReadSession, account_id: str) -> int:
    """Of the digests that the portrait was made with, those whose conversations are still there
    as they were."""
    statement = select(func.count()).where(
        ConversationDigest.account_id == account_id, ConversationDigest.in_overview.is_(True)
    )
    return session.scalars(statement).one()


def write_overview(
    session: WriteSession,
    account_id: str,
    *,
    made_with: str,
    portrait: dict[str, Any],
    conversation_ids: Sequence[str],
    is_pending: bool,
) -> bool:
    """False, and nothing is written, when one of the conversations that it was made with is gone
    or was read anew meanwhile: then it has to be made again."""
    session.execute(
        update(ConversationDigest)
        .where(ConversationDigest.account_id == account_id)
        .values(in_overview=False)
        .execution_options(synchronize_session=False)
    )
    for some in chunks(conversation_ids):
        session.execute(
            update(ConversationDigest)
            .where(
                ConversationDigest.account_id == account_id,
                ConversationDigest.conversation_id.in_(some),
            )
            .values(in_overview=True)
            .execution_options(synchronize_session=False)
        )
    if count_in_overview(session, account_id) != len(conversation_ids):
        session.execute(delete(Overview).where(Overview.account_id == account_id))
        return False
    session.merge(
        Overview(
            account_id=account_id,
            made_with=made_with,
            made_at=utcnow(),
            conversation_count=len(conversation_ids),
            portrait=portrait,
            is_pending=is_pending,
        )
    )
    return True


def forget_overview(session: WriteSession, account_id: str) -> None:
    """Takes away all that was derived, so that it is made again from the conversations."""
    session.execute(delete(Overview).where(Overview.account_id == account_id))
    session.execute(delete(ConversationDigest).where(ConversationDigest.account_id == account_id))


def accounts_to_refresh(session: ReadSession, made_with: str, *, with_model: bool) -> list[str]:
    """Accounts with conversations that the overview has not taken in, and, where there is a
    language model, those whose portrait waits for it."""
    lacking = (
        select(Conversation.account_id)
        .outerjoin(ConversationDigest, _up_to_date(made_with))
        .where(ConversationDigest.conversation_id.is_(None))
        .distinct()
    )
    found = set(session.scalars(lacking))
    left_out = select(ConversationDigest.account_id).where(
        ConversationDigest.in_overview.is_(False),
        ConversationDigest.is_private.is_(False),
    )
    found.update(session.scalars(left_out.distinct()))
    if with_model:
        found.update(session.scalars(select(Overview.account_id).where(Overview.is_pending)))
    return sorted(found)
