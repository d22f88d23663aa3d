"""What an account has in the database, for tests to look at."""

from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import (
    Message,
)
from ingest.verify import verify_account

FIXTURES = Path(__file__).parents[1] / "fixtures" / "exports"


def stored_texts(kernel: Kernel, principal: Principal, *, shown_only: bool = True) -> list[str]:
    query = select(Message.text).where(Message.account_id == principal.account_id)
    if shown_only:
        query = query.where(Message.on_shown_line.is_(True))
    with kernel.store.read() as session:
        return list(session.scalars(query.order_by(Message.conversation_id, Message.position)))


def count_rows(kernel: Kernel, table: Any) -> int:
    with kernel.store.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def stored_rows(kernel: Kernel, table: Any) -> list[tuple[Any, ...]]:
    with kernel.store.read() as session:
        columns = [column for column in table.__table__.columns if column.name != "changed_at"]
        return [tuple(row) for row in session.execute(select(*columns).order_by(table.id))]


def assert_sound(kernel: Kernel, principal: Principal) -> None:
    assert verify_account(kernel, principal.account_id).problems == []
