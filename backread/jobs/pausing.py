"""Holding a job back until somebody lets it go on.

A paused job waits like any other, with a time to begin that never comes: nothing takes it up, and
what would be asked for under its key is held back with it. What it has done stays.
"""

from datetime import UTC, datetime

from sqlalchemy import case

from backread.jobs.broker import send
from backread.store.base import utcnow
from backread.store.engine import WriteSession, after_commit
from backread.store.models import Job
from backread.store.repositories.jobs import update_job

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
_OPEN = frozenset({"queued", "running"})


def pause(session: WriteSession, job: Job) -> None:
    """A waiting job is held back at once; a running one stops at its next report, within seconds.
    One that has ended stays as it is."""
    while job.state in _OPEN:
        held = {"run_after": NEVER} if job.state == "queued" else {}
        if update_job(session, job, paused_at=utcnow(), **held):
            return
        session.refresh(job)  # it was begun, or stopped, meanwhile


def resume(session: WriteSession, job: Job) -> None:
    """Lets it go on where it was. One that is not paused stays as it is."""
    while job.paused_at is not None and job.state in _OPEN:
        if update_job(session, job, paused_at=None, run_after=utcnow(), sent_at=None):
            after_commit(session, lambda: _send(job))
            return
        session.refresh(job)


def next_start(due: datetime) -> object:
    """When a job that goes back to those that wait may begin: then, or never while it is paused,
    whatever it stopped for. For a change of its row."""
    return case((Job.paused_at.is_(None), due), else_=NEVER)


def _send(job: Job) -> None:
    send(job.id, job.name)
