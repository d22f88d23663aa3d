"""Jobs that failed for good: taking them up again, or letting them be.

`failed` is a job whose own error says that another try would end the same way, `dead` one whose
tries are used up. Both stay on this list until they are retried or dismissed.
"""

from datetime import timedelta

from sqlalchemy.exc import IntegrityError

from backread.domain import Principal
from backread.errors import BackreadError, Conflict
from backread.jobs.broker import send
from backread.jobs.registry import JOBS
from backread.jobs.retrying import MAX_REVIVALS, PASSING
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession, after_commit
from backread.store.models import Job
from backread.store.repositories.jobs import (
    DEAD_LETTERS,
    dead_of_passing_reason,
    dismiss_dead,
    find_visible_job,
    update_job,
    visible_jobs,
)

_FIRST_REVIVAL = timedelta(hours=1)  # doubles with each
_MOST_AT_ONCE = 1000

_log = get_logger(__name__)


def retry_job(session: WriteSession, principal: Principal, job_id: str) -> str:
    """Queues a job that failed again, with all its tries; returns its state afterwards.

    One that waits or runs stays as it is. Raises NotFound, and Conflict when the job ended well or
    can do nothing any more, because what it works on is gone.
    """
    job = find_visible_job(session, principal, job_id)
    if job.state in {"queued", "running"}:
        return job.state
    if job.state not in DEAD_LETTERS:
        raise Conflict("Only a job that failed can be tried again.")
    _queue_again(session, job, revivals=0)
    return find_visible_job(session, principal, job_id).state


def retry_all(session: WriteSession, principal: Principal) -> int:
    """Queues every job that failed again; returns how many. Those that can do nothing any more
    stay on the list."""
    count = 0
    for job in visible_jobs(session, principal, states=DEAD_LETTERS, limit=_MOST_AT_ONCE):
        try:
            _queue_again(session, job, revivals=0)
        except BackreadError:
            continue
        count += 1
    return count


def dismiss_job(session: WriteSession, principal: Principal, job_id: str) -> None:
    """Takes a job that failed off the list. Raises NotFound, and Conflict when it did not fail."""
    job = find_visible_job(session, principal, job_id)
    if job.state not in DEAD_LETTERS:
        raise Conflict("Only a job that failed can be dismissed.")
    update_job(session, job, dismissed_at=job.dismissed_at or utcnow())


def dismiss_all(session: WriteSession, principal: Principal) -> int:
    """Takes every job that failed off the list; returns how many."""
    return dismiss_dead(session, principal, utcnow())


def revive(kernel: Kernel) -> int:
    """Queues dead jobs again that ended because something was away for a while: after an hour, and
    twice as long each time, five times at most. Returns how many."""
    now = utcnow()
    with kernel.store.read() as session:
        dead = dead_of_passing_reason(session, sorted(PASSING), most_revivals=MAX_REVIVALS)
    count = 0
    for job in dead:
        if job.finished_at is None or now < job.finished_at + _FIRST_REVIVAL * 2**job.revivals:
            continue
        try:
            with kernel.store.write() as session:
                _queue_again(session, job, revivals=job.revivals + 1)
        except BackreadError as error:
            _log.info("dead_letter_not_revived", job_id=job.id, job=job.name, code=error.code)
            continue
        count += 1
    return count


def _queue_again(session: WriteSession, job: Job, *, revivals: int) -> None:
    definition = JOBS.get(job.name)
    if definition is not None and definition.on_retry is not None:
        definition.on_retry(session, job)
    values = {
        "state": "queued",
        "failures": 0,
        "losses": 0,
        "revivals": revivals,
        "left_out": 0,
        "run_after": utcnow(),
        "sent_at": None,
        "finished_at": None,
        "cancel_requested_at": None,
        "paused_at": None,
    }
    try:
        with session.begin_nested():
            update_job(session, job, **values)
    except IntegrityError:
        # A newer job with the same key waits and will do the same work.
        update_job(session, job, dismissed_at=utcnow())
        return
    after_commit(session, lambda: _send(job))


def _send(job: Job) -> None:
    send(job.id, job.name)
