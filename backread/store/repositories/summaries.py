"""Stored summaries, the parts they were made of, and what an account has agreed to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, not_, or_, select

from backread.domain import MessageKind
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import (
    Account,
    Conversation,
    Message,
    StoredSummary,
    SummaryPart,
    SummaryPlan,
)


@dataclass(frozen=True, slots=True)
class Making:
    """Who makes summaries at present, and of what: conversations from `least_tokens` on."""

    model: str
    maker: str
    least_tokens: int


def find_summary(
    session: ReadSession, account_id: str, conversation_id: str
) -> StoredSummary | None:
    row = session.get(StoredSummary, conversation_id)
    return row if row is not None and row.account_id == account_id else None


def save_summary(session: WriteSession, row: StoredSummary) -> None:
    """Replaces the former one. Nothing is written when the conversation is gone meanwhile."""
    known = select(Conversation.id).where(
        Conversation.id == row.conversation_id, Conversation.account_id == row.account_id
    )
    if session.scalar(known) is not None:
        session.merge(row)


def find_part(
    session: ReadSession, account_id: str, conversation_id: str, input_hash: str
) -> SummaryPart | None:
    part = session.get(SummaryPart, (conversation_id, input_hash))
    return part if part is not None and part.account_id == account_id else None


def save_part(
    session: WriteSession,
    account_id: str,
    conversation_id: str,
    input_hash: str,
    sentences: list[Any],
    dropped: int,
) -> None:
    known = select(Conversation.id).where(
        Conversation.id == conversation_id, Conversation.account_id == account_id
    )
    if session.scalar(known) is not None:
        session.merge(
            SummaryPart(
                conversation_id=conversation_id,
                input_hash=input_hash,
                account_id=account_id,
                sentences=sentences,
                dropped=dropped,
            )
        )


def delete_parts_but(
    session: WriteSession, account_id: str, conversation_id: str, hashes: Sequence[str]
) -> None:
    """Forgets parts that the conversation as it is now does not have."""
    session.execute(
        delete(SummaryPart).where(
            SummaryPart.conversation_id == conversation_id,
            SummaryPart.account_id == account_id,
            SummaryPart.input_hash.not_in(list(hashes)),
        )
    )


def texts_of_messages(
    session: ReadSession, account_id: str, conversation_id: str, ids: Sequence[str]
) -> dict[str, tuple[str, datetime | None]]:
    """Text and time of dialogue messages, by id."""
    rows = session.execute(
        select(Message.id, Message.text, Message.created_at).where(
            Message.conversation_id == conversation_id,
            Message.account_id == account_id,
            Message.kind == MessageKind.DIALOGUE,
            Message.id.in_(list(ids)),
        )
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def find_plan(session: ReadSession, account_id: str) -> SummaryPlan | None:
    return session.get(SummaryPlan, account_id)


def find_plan_for_update(session: WriteSession, account_id: str) -> SummaryPlan | None:
    return session.get(SummaryPlan, account_id, with_for_update=True)


def active_accounts(session: ReadSession) -> list[str]:
    """Accounts that work is done for."""
    return list(session.scalars(select(Account.id).where(Account.disabled_at.is_(None))))


def token_counts(
    session: ReadSession,
    account_id: str,
    making: Making,
    span: ColumnElement[bool],
    now: datetime,
    *,
    first_time: bool = False,
) -> list[int]:
    """Of each conversation in the span that lacks a summary of the present making. `first_time`:
    without those that had one before they grew, of which most is kept."""
    query = _wanted(Conversation.token_count, account_id, making, span, now)
    if first_time:
        had_one = and_(
            StoredSummary.state == "made",
            StoredSummary.made_by == making.model,
            StoredSummary.maker == making.maker,
        )
        query = query.where(or_(StoredSummary.conversation_id.is_(None), not_(had_one)))
    return list(session.scalars(query))


def next_wanted(
    session: ReadSession, account_id: str, making: Making, span: ColumnElement[bool], now: datetime
) -> str | None:
    """The newest conversation in the span that lacks a summary."""
    newest = func.coalesce(Conversation.last_message_at, Conversation.imported_at).desc()
    query = _wanted(Conversation.id, account_id, making, span, now)
    found: str | None = session.scalar(query.order_by(newest, Conversation.id.desc()).limit(1))
    return found


def count_wanted(
    session: ReadSession, account_id: str, making: Making, span: ColumnElement[bool], now: datetime
) -> int:
    query = _wanted(Conversation.id, account_id, making, span, now).subquery()
    return session.scalar(select(func.count()).select_from(query)) or 0


def changed_after(moment: datetime) -> ColumnElement[bool]:
    return Conversation.changed_at > moment


def changed_between(after: datetime | None, until: datetime) -> ColumnElement[bool]:
    up_to: ColumnElement[bool] = Conversation.changed_at <= until
    return up_to if after is None else and_(Conversation.changed_at > after, up_to)


def _wanted(
    what: Any, account_id: str, making: Making, span: ColumnElement[bool], now: datetime
) -> Select[Any]:
    row = StoredSummary
    is_waiting = and_(row.state == "waiting", row.try_after.is_not(None), row.try_after <= now)
    is_of_another = and_(
        row.state == "made", or_(row.made_by != making.model, row.maker != making.maker)
    )
    return (
        select(what)
        .outerjoin(row, row.conversation_id == Conversation.id)
        .where(
            Conversation.account_id == account_id,
            Conversation.token_count >= making.least_tokens,
            span,
            or_(
                row.conversation_id.is_(None),
                row.input_changed_at != Conversation.changed_at,
                is_waiting,
                is_of_another,
            ),
        )
    )


def count_summaries(session: ReadSession, account_id: str) -> dict[str, int]:
    """Rows by state: made, waiting."""
    rows = session.execute(
        select(StoredSummary.state, func.count())
        .where(StoredSummary.account_id == account_id)
        .group_by(StoredSummary.state)
    )
    return {str(state): int(count) for state, count in rows}


def forget_waiting(session: WriteSession, account_id: str, now: datetime) -> None:
    """What waits for its next try is due now."""
    for row in session.scalars(
        select(StoredSummary).where(
            StoredSummary.account_id == account_id,
            StoredSummary.state == "waiting",
            StoredSummary.try_after.is_not(None),
        )
    ):
        row.try_after = now
