"""Makes sure that every row of the outbox is on its way: what was never sent, what the broker
lost, what waits for its next try, and what a dead worker left behind."""

from datetime import timedelta

from backread.jobs.broker import send
from backread.jobs.liveness import forget_dead
from backread.jobs.picking import is_void
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import Store
from backread.store.repositories.job_queue import running_jobs, unsent_jobs
from backread.store.repositories.jobs import mark_all_unsent, mark_sent

# `enqueue()` has just sent a new row itself; give the worker this long to pick it up.
_GRACE = timedelta(seconds=5)
# A message that has led to nothing for this long may be lost. Sending twice does no harm.
_SEND_AGAIN_AFTER = timedelta(minutes=10)


def sweep(kernel: Kernel, *, is_new_worker: bool = False) -> int:
    """Sends what needs sending and returns how many jobs that were. Does nothing that another
    sweep at the same time could spoil. Of a large backlog it sends a part, and the rest as that
    is worked off: a message only rings, and the worker itself looks which job comes next.

    `is_new_worker`: what was sent to the former one may have ended with it, so all is sent again.
    """
    now = utcnow()
    again = now if is_new_worker else now - _SEND_AGAIN_AFTER
    with kernel.store.read() as session:
        waiting = unsent_jobs(
            session,
            now,
            sent_before=again,
            created_before=now if is_new_worker else now - _GRACE,
        )
        running = running_jobs(session)
    left_behind = [
        job
        for job in running
        if (job.sent_at is None or job.sent_at <= again) and is_void(kernel.settings, job, now)
    ]
    sent = [job for job in [*left_behind, *waiting] if send(job.id, job.name)]
    if sent:
        with kernel.store.write() as session:
            mark_sent(session, sent, now)
    forget_dead(kernel.settings, {job.worker for job in running})
    return len(sent)


def forget_sent(store: Store) -> None:
    """For a new, empty broker: every job that is not finished is sent again."""
    with store.write() as session:
        mark_all_unsent(session)
