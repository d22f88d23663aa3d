"""Rows of the outbox. Every change of a running row names the attempt that makes it, so a worker
that has lost its lease cannot write over its successor."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, CursorResult, delete, exists, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from backread.domain import Principal
from backread.errors import NotFound
from backread.identity import new_id
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, Job
from backread.store.repositories.accounts import OWNER

FINISHED = ("done", "failed", "dead", "cancelled")
DEAD_LETTERS = ("failed", "dead")


def insert_job(session: WriteSession, **values: Any) -> str:
    """Adds a queued row and returns its id; with a `dedupe_key` that already waits, the id of
    the waiting row instead."""
    key = values.get("dedupe_key", "")
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    insert = sqlite.insert if is_sqlite else postgresql.insert
    while True:
        statement = insert(Job).values(id=new_id(), **values).on_conflict_do_nothing()
        inserted = session.scalar(statement.returning(Job.id))
        if inserted is not None:
            return str(inserted)
        waiting = session.scalar(select(Job.id).where(Job.dedupe_key == key, Job.state == "queued"))
        if waiting is not None:
            return waiting
        # It was claimed between the two statements, so the key is free to wait again.


def find_job(session: ReadSession, account_id: str, job_id: str) -> Job:
    """Raises NotFound, also for another account's job."""
    job = session.scalar(select(Job).where(Job.id == job_id, Job.account_id == account_id))
    if job is None:
        raise NotFound("There is no such job.")
    return job


def get_job(session: ReadSession, job_id: str) -> Job | None:
    """For the runner, which works for every account."""
    return session.get(Job, job_id, populate_existing=True)


def update_job(session: WriteSession, job: Job, **values: Any) -> bool:
    """Changes the row unless it has moved on since `job` was read. True when it did change."""
    statement = (
        update(Job)
        .where(Job.id == job.id, Job.state == job.state, Job.attempts == job.attempts)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    result = session.execute(statement)
    return isinstance(result, CursorResult) and result.rowcount == 1


def waiting_with_key(session: ReadSession, dedupe_key: str) -> Job | None:
    return session.scalar(select(Job).where(Job.dedupe_key == dedupe_key, Job.state == "queued"))


def last_with_key(session: ReadSession, dedupe_key: str) -> Job | None:
    """The newest job of a key, whatever became of it."""
    query = select(Job).where(Job.dedupe_key == dedupe_key).order_by(Job.id.desc())
    return session.scalars(query).first()


def mark_sent(session: WriteSession, jobs: Sequence[Job], now: datetime) -> None:
    """Only those that nobody has begun since they were read: a mark from before would keep a job
    whose worker then dies from being sent again."""
    by_attempts: dict[int, list[str]] = {}
    for job in jobs:
        by_attempts.setdefault(job.attempts, []).append(job.id)
    for attempts, ids in by_attempts.items():
        session.execute(
            update(Job)
            .where(Job.id.in_(ids), Job.attempts == attempts)
            .values(sent_at=now)
            .execution_options(synchronize_session=False)
        )


def mark_all_unsent(session: WriteSession) -> None:
    session.execute(
        update(Job)
        .where(Job.state.in_(("queued", "running")))
        .values(sent_at=None)
        .execution_options(synchronize_session=False)
    )


def delete_finished(session: WriteSession, now: datetime, *, keep_days: int) -> None:
    """Removes rows that ended more than `keep_days` ago."""
    session.execute(
        delete(Job)
        .where(Job.state.in_(FINISHED), Job.finished_at < now - timedelta(days=keep_days))
        .execution_options(synchronize_session=False)
    )


def _visible(principal: Principal) -> ColumnElement[bool]:
    """A person's own jobs; to an owner those that are for no account, too."""
    is_owner = exists().where(Account.id == principal.account_id, Account.role == OWNER)
    return or_(Job.account_id == principal.account_id, Job.account_id.is_(None) & is_owner)


def find_visible_job(session: ReadSession, principal: Principal, job_id: str) -> Job:
    """Raises NotFound, also for another account's job and for the server's unless an owner asks."""
    job = session.scalar(
        select(Job)
        .where(Job.id == job_id, _visible(principal))
        .execution_options(populate_existing=True)
    )
    if job is None:
        raise NotFound("There is no such job.")
    return job


def visible_jobs(
    session: ReadSession, principal: Principal, *, states: Sequence[str], limit: int
) -> list[Job]:
    """Newest first. Those that failed and were dismissed are left out when only failed ones are
    asked for."""
    query = select(Job).where(_visible(principal), Job.state.in_(states))
    if set(states) <= set(DEAD_LETTERS):
        query = query.where(Job.dismissed_at.is_(None))
    order = (func.coalesce(Job.finished_at, Job.created_at).desc(), Job.id.desc())
    return list(session.scalars(query.order_by(*order).limit(limit)))


def count_visible(session: ReadSession, principal: Principal) -> dict[str, int]:
    """How many of the jobs that a person may see wait, run, and failed without being dismissed."""
    query = (
        select(Job.state, func.count())
        .where(
            _visible(principal),
            Job.state.in_(("queued", "running"))
            | (Job.state.in_(DEAD_LETTERS) & Job.dismissed_at.is_(None)),
        )
        .group_by(Job.state)
    )
    counts = {row.state: int(row[1]) for row in session.execute(query)}
    return {
        "queued": counts.get("queued", 0),
        "running": counts.get("running", 0),
        "failed": sum(counts.get(state, 0) for state in DEAD_LETTERS),
    }


def dead_of_passing_reason(
    session: ReadSession, codes: Sequence[str], *, most_revivals: int
) -> list[Job]:
    """Dead jobs that may be taken up again by themselves."""
    query = select(Job).where(
        Job.state == "dead",
        Job.dismissed_at.is_(None),
        Job.error_code.in_(codes),
        Job.revivals < most_revivals,
    )
    return list(session.scalars(query.order_by(Job.id)))


def dismiss_dead(session: WriteSession, principal: Principal, now: datetime) -> int:
    """Dismisses all that failed of what a person may see; returns how many."""
    result = session.execute(
        update(Job)
        .where(_visible(principal), Job.state.in_(DEAD_LETTERS), Job.dismissed_at.is_(None))
        .values(dismissed_at=now)
        .execution_options(synchronize_session=False)
    )
    return result.rowcount if isinstance(result, CursorResult) else 0
