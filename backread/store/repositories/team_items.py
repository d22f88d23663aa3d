"""Memories that members of the team share with each other."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, TeamItem


@dataclass(frozen=True, slots=True)
class SharedItem:
    """An item with the name of who shared it."""

    id: str
    text: str
    shared_by: str
    shared_at: datetime


def add_item(session: WriteSession, item: TeamItem) -> bool:
    """Whether it was not shared by this account already."""
    try:
        with session.begin_nested():
            session.add(item)
            session.flush()
    except IntegrityError:
        return False
    return True


def list_items(
    session: ReadSession, team_id: str, *, before_id: str = "", limit: int
) -> list[SharedItem]:
    """The latest first; with `before_id` those before that one. Nobody who is shut out speaks."""
    query = (
        select(TeamItem, Account)
        .join(Account, Account.id == TeamItem.account_id)
        .where(TeamItem.team_id == team_id, Account.disabled_at.is_(None))
        .order_by(TeamItem.id.desc())
        .limit(limit)
    )
    if before_id:
        query = query.where(TeamItem.id < before_id)
    return [
        SharedItem(item.id, item.text, account.display_name or account.email, item.shared_at)
        for item, account in session.execute(query)
    ]


def count_items(session: ReadSession, team_id: str) -> int:
    query = (
        select(func.count())
        .select_from(TeamItem)
        .join(Account, Account.id == TeamItem.account_id)
        .where(TeamItem.team_id == team_id, Account.disabled_at.is_(None))
    )
    return session.scalars(query).one()


def delete_item(session: WriteSession, account_id: str, team_id: str, item_id: str) -> bool:
    """Whether the account had shared such an item."""
    result = session.execute(
        delete(TeamItem).where(
            TeamItem.id == item_id,
            TeamItem.account_id == account_id,
            TeamItem.team_id == team_id,
        )
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]
