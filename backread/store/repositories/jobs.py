"""Rows of the outbox. Every change of a running row names the attempt that makes it, so a worker
that has lost its lease cannot write over its successor."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import CursorResult, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from backread.errors import NotFound
from backread.identity import new_id
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Job

FINISHED = ("done", "failed", "dead", "cancelled")


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


def due_jobs(
    session: ReadSession, now: datetime, *, names: Sequence[str] | None = None
) -> list[Job]:
    """Queued rows whose time has come, and running rows, oldest first. Whether a running row's
    worker still lives is for the caller to find out."""
    statement = (
        select(Job)
        .where(Job.state.in_(("queued", "running")), Job.run_after <= now)
        .order_by(Job.created_at, Job.id)
    )
    if names is not None:
        statement = statement.where(Job.name.in_(names))
    return list(session.scalars(statement))


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
