"""Queries that take an account away with all that belongs to it."""

from collections.abc import Iterator, Sequence

from sqlalchemy import ColumnElement, Table, delete, literal, select, update

from backread.store.base import Base, utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, Conversation, Import, Job, JobTurn


def is_to_be_erased(session: ReadSession, account_id: str) -> bool:
    statement = select(Account.id).where(Account.id == account_id, Account.removed_at.is_not(None))
    return session.scalar(statement) is not None


def accounts_to_erase(session: ReadSession) -> list[str]:
    return list(session.scalars(select(Account.id).where(Account.removed_at.is_not(None))))


def call_off_jobs(session: WriteSession, account_id: str) -> None:
    """Waiting jobs of the account end at once, running ones at their next report."""
    now = utcnow()
    session.execute(
        update(Job)
        .where(Job.account_id == account_id, Job.state == "queued")
        .values(state="cancelled", cancel_requested_at=now, finished_at=now)
    )
    session.execute(
        update(Job)
        .where(Job.account_id == account_id, Job.state == "running")
        .values(cancel_requested_at=now)
    )


def has_running_jobs(session: ReadSession, account_id: str) -> bool:
    """Whether a worker still holds a job of the account."""
    statement = select(Job.id).where(
        Job.account_id == account_id, Job.state == "running", Job.lease_until > utcnow()
    )
    return session.scalar(statement.limit(1)) is not None


def has_newcomers(session: ReadSession, account_id: str) -> bool:
    """Whether something refers to the account (again), or a job of it runs."""
    return has_running_jobs(session, account_id) or any(
        session.scalar(select(literal(1)).select_from(table).where(mine).limit(1)) is not None
        for table, mine in _owned(account_id)
    )


def delete_owned(session: WriteSession, account_id: str, name: str) -> None:
    """What the table of this name holds for the account, and what goes with that."""
    for table, mine in _owned(account_id):
        if table.name == name:
            session.execute(delete(table).where(mine))


def owned_tables() -> list[str]:
    """Tables whose rows go with their account, those that others refer to last."""
    return list(dict.fromkeys(table.name for table, _ in _owned("")))


def _owned(account_id: str) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    for table in reversed(Base.metadata.sorted_tables):
        for key in table.foreign_keys:
            if key.column.table.name == "accounts" and key.ondelete == "CASCADE":
                yield table, key.parent == account_id


def conversation_ids(session: ReadSession, account_id: str, *, limit: int) -> list[str]:
    statement = select(Conversation.id).where(Conversation.account_id == account_id)
    return list(session.scalars(statement.limit(limit)))


def delete_conversations(session: WriteSession, account_id: str, ids: Sequence[str]) -> None:
    """With their messages."""
    session.execute(
        delete(Conversation)
        .where(Conversation.account_id == account_id, Conversation.id.in_(ids))
        .execution_options(synchronize_session=False)
    )


def owned_files(session: ReadSession, account_id: str) -> list[str]:
    """Paths of uploaded copies that imports of the account still own."""
    rows = session.scalars(
        select(Import.files).where(Import.account_id == account_id, Import.owns_files)
    )
    return [str(file["path"]) for files in rows for file in files]


def delete_account(session: WriteSession, account_id: str) -> None:
    """The account, and by the database's own rules all that refers to it; its jobs, too."""
    session.execute(delete(Job).where(Job.account_id == account_id))
    session.execute(delete(JobTurn).where(JobTurn.owner == account_id))
    session.execute(delete(Account).where(Account.id == account_id))
