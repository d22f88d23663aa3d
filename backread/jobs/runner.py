"""Runs one job: claims the row, keeps the lease, and writes down how it ended.

A row is claimed by comparing and swapping its attempt number, so of any number of workers that
are handed the same id exactly one runs it. A job whose worker died is claimed like a queued one.
"""

import secrets
import threading
import time
from datetime import datetime, timedelta

from sqlalchemy.exc import IntegrityError, OperationalError
from structlog.contextvars import bound_contextvars

from backread.errors import BackreadError, Unavailable
from backread.jobs.broker import send
from backread.jobs.lease import Lease, ProgressListener, StopSignal
from backread.jobs.liveness import is_dead, worker_name
from backread.jobs.registry import JOBS, HelperEnded, JobCancelled, JobInterrupted, LeaseLost
from backread.kernel import Kernel
from backread.log import get_logger
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Job
from backread.store.repositories.jobs import get_job, update_job, waiting_with_key

MAX_FAILURES = 25  # in a row without progress: about an hour and a half of trying
_BACKOFF_FIRST_SECONDS = 2.0
_BACKOFF_MOST_SECONDS = 300.0
_SOON_SECONDS = 2.0
_RETRYABLE = (Unavailable, OperationalError)
_UNFINISHED = frozenset({"failed", "dead", "cancelled"})

_log = get_logger(__name__)
_random = secrets.SystemRandom()


def run_job(
    kernel: Kernel,
    job_id: str,
    *,
    stopping: StopSignal | None = None,
    on_progress: ProgressListener | None = None,
) -> str | None:
    """Runs the job unless somebody else does or it is not due.

    Returns its state afterwards (`queued` when it is to be tried again), or None when it was not
    this call's to run. Raises nothing that the job raised: that is in the row and in the log.
    """
    job = claim_job(kernel, job_id)
    if job is None:
        return None
    started = time.monotonic()
    with bound_contextvars(
        job_id=job.id, job=job.name, account_id=job.account_id, attempt=job.attempts
    ):
        lease = Lease(kernel, job, stopping=stopping or threading.Event(), on_progress=on_progress)
        with lease:
            state, reason = _execute(job, lease)
        state = _finish(kernel, job, lease, state, reason)
        _log.info("job_ended", state=state, seconds=round(time.monotonic() - started, 3))
    if state not in {"queued", "lost"} and job.dedupe_key:
        _send_successor(kernel, job.dedupe_key)
    return state


def is_claimable(settings: Settings, job: Job, now: datetime) -> bool:
    """True for a queued job that is due and a running one whose lease is void."""
    if job.state == "queued":
        return job.run_after <= now
    if job.state != "running":
        return False
    return job.lease_until is None or job.lease_until <= now or is_dead(settings, job.worker)


def claim_job(kernel: Kernel, job_id: str) -> Job | None:
    """Makes the job this process's, or returns None when it may not have it."""
    settings = kernel.settings
    worker = worker_name(settings)
    try:
        with kernel.store.write() as session:
            now = utcnow()
            job = get_job(session, job_id)
            if job is None or not is_claimable(settings, job, now):
                return None
            session.expunge(job)
            claimed = update_job(
                session,
                job,
                state="running",
                attempts=job.attempts + 1,
                # A worker that died with the job counts as a failure until there is progress.
                failures=job.failures + (job.state == "running"),
                worker=worker,
                sent_at=None,
                lease_until=now + timedelta(seconds=settings.job_lease_seconds),
                started_at=job.started_at or now,
            )
            if not claimed:
                return None
            job = get_job(session, job_id)
            session.expunge_all()
            return job
    except IntegrityError:
        return None  # another job with its dedupe key runs; it sends this one when it ends


def _execute(job: Job, lease: Lease) -> tuple[str, str]:
    """Calls the job's function; answers with the state it leads to and the reason."""
    definition = JOBS.get(job.name)
    if definition is None:
        return "failed", f"This release has no job called {job.name}."
    if job.cancel_requested_at is not None:
        return "cancelled", "Cancelled on request."  # while its worker was dead or going down
    if job.failures >= MAX_FAILURES:
        return "dead", job.error or "The worker ended each time while running this job."
    try:
        definition.function(lease, **job.args)
    except JobCancelled:
        return "cancelled", "Cancelled on request."
    except JobInterrupted:
        return "interrupted", ""
    except LeaseLost:
        return "lost", ""
    except HelperEnded as error:
        _log.warning("job_helper_ended", reason=str(error))
        return "retry_soon", _reason(error)
    except _RETRYABLE as error:
        _log.warning("job_will_retry", error=type(error).__name__, exc_info=True)
        return "retry", _reason(error)
    except Exception as error:  # noqa: BLE001 - the job edge: whatever it was ends here, logged
        _log.exception("job_failed", error=type(error).__name__)
        return "failed", _reason(error)
    return "done", ""


def _reason(error: Exception) -> str:
    """For people. Other errors' texts may quote what was in a chat, so they stay in the log."""
    if isinstance(error, BackreadError):
        return str(error)
    if isinstance(error, OperationalError):
        return "The database was busy or could not be reached."
    return f"An error inside Backread ({type(error).__name__}). The worker's log has the details."


def _finish(kernel: Kernel, job: Job, lease: Lease, state: str, reason: str) -> str:
    if state == "lost":
        _log.warning("job_lease_lost")
        return state
    failures = 0 if lease.progressed else job.failures
    if state in {"retry", "retry_soon"}:
        failures += 1
        state = "dead" if failures >= MAX_FAILURES else state
    if state in _UNFINISHED and not _told_unfinished(job, lease, state, reason):
        # What it worked on would look under way for ever. The job can be run once more, so its
        # end is written when that could be told.
        failures += 1
        state = state if failures >= 2 * MAX_FAILURES else "retry"
    now = utcnow()
    done, total = lease.progress
    values = {
        "failures": failures,
        "error": reason,
        "done_units": done,
        "total_units": total,
        "lease_until": None,
        "worker": "",
    }
    if state in {"retry", "retry_soon", "interrupted"}:
        delay = backoff_seconds(failures) if state == "retry" else 0.0
        delay = _SOON_SECONDS if state == "retry_soon" else delay
        values |= {"run_after": now + timedelta(seconds=delay), "sent_at": None}
        return _queue_again(kernel, job, values, now)
    values |= {"state": state, "finished_at": now}
    with kernel.store.write() as session:
        return state if update_job(session, job, **values) else "lost"


def _queue_again(kernel: Kernel, job: Job, values: dict[str, object], now: datetime) -> str:
    try:
        with kernel.store.write() as session:
            return "queued" if update_job(session, job, state="queued", **values) else "lost"
    except IntegrityError:
        # A job with the same key waits already and will do the same work.
        ended = values | {"finished_at": now, "error": "A newer job of the same kind took over."}
        with kernel.store.write() as session:
            return "cancelled" if update_job(session, job, state="cancelled", **ended) else "lost"


def _told_unfinished(job: Job, lease: Lease, state: str, reason: str) -> bool:
    definition = JOBS.get(job.name)
    if definition is None or definition.on_unfinished is None:
        return True
    try:
        definition.on_unfinished(lease, state, reason)
    except Exception as error:  # noqa: BLE001 - must not keep the job's own end from the row
        _log.exception("job_unfinished_hook_failed", error=type(error).__name__)
        return False
    return True


def backoff_seconds(failures: int) -> float:
    """Doubles with each failure, up to five minutes; spread by half either way so that jobs which
    failed together do not come back together."""
    delay: float = _BACKOFF_FIRST_SECONDS * 2.0 ** (failures - 1)
    return min(_BACKOFF_MOST_SECONDS, delay) * _random.uniform(0.5, 1.5)


def _send_successor(kernel: Kernel, dedupe_key: str) -> None:
    with kernel.store.read() as session:
        waiting = waiting_with_key(session, dedupe_key)
    if waiting is not None:
        send(waiting.id, waiting.name)
