"""Makes sure that every row of the outbox is on its way: what was never sent, what the broker
lost, what waits for its next try, and what a dead worker left behind."""

from datetime import datetime, timedelta

from backread.jobs.broker import send
from backread.jobs.liveness import forget_dead
from backread.jobs.registry import UPKEEP
from backread.jobs.runner import is_claimable
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import Store
from backread.store.models import Job
from backread.store.repositories.jobs import (
    delete_finished,
    due_jobs,
    mark_all_unsent,
    mark_sent,
)

KEEP_FINISHED_DAYS = 30
# `enqueue()` has just sent a new row itself; give the worker this long to pick it up.
_GRACE = timedelta(seconds=5)
# A message that has led to nothing for this long may be lost. Sending twice does no harm.
_SEND_AGAIN_AFTER = timedelta(minutes=10)


def sweep(kernel: Kernel, *, is_new_worker: bool = False) -> int:
    """Sends what needs sending and returns how many jobs that were. Does nothing that another
    sweep at the same time could spoil.

    `is_new_worker`: what was sent to the former one may have ended with it, so all is sent again.
    """
    now = utcnow()
    with kernel.store.read() as session:
        jobs = due_jobs(session, now)
    settings = kernel.settings
    sent = [
        job
        for job in jobs
        if (
            is_claimable(settings, job, now)
            if is_new_worker
            else _needs_sending(settings, job, now)
        )
        and send(job.id, job.name)
    ]
    if sent:
        with kernel.store.write() as session:
            mark_sent(session, sent, now)
    forget_dead(settings, {job.worker for job in jobs if job.state == "running"})
    return len(sent)


def _needs_sending(settings: Settings, job: Job, now: datetime) -> bool:
    if job.sent_at is not None:
        if job.sent_at > now - _SEND_AGAIN_AFTER:
            return False
    elif job.state == "queued" and job.attempts == 0 and job.created_at > now - _GRACE:
        return False
    return is_claimable(settings, job, now)


def tidy(kernel: Kernel) -> None:
    """Removes rows of jobs that ended a month ago, and does what `UPKEEP` holds."""
    with kernel.store.write() as session:
        delete_finished(session, utcnow(), keep_days=KEEP_FINISHED_DAYS)
    for clear_away in UPKEEP:
        clear_away(kernel)


def forget_sent(store: Store) -> None:
    """For a new, empty broker: every job that is not finished is sent again."""
    with store.write() as session:
        mark_all_unsent(session)
