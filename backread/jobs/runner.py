"""Runs one job: claims the row, keeps the lease, and writes down how it ended.

A row is claimed by comparing and swapping its attempt number, so of any number of workers that
are handed the same id exactly one runs it. A job whose worker died is claimed like a queued one.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from opentelemetry.trace import SpanKind
from sqlalchemy.exc import IntegrityError
from structlog.contextvars import bound_contextvars

from backread.errors import RateLimited
from backread.jobs.broker import send
from backread.jobs.lease import Lease, ProgressListener, StopSignal
from backread.jobs.liveness import worker_name
from backread.jobs.pausing import next_start, pause
from backread.jobs.picking import Place, is_claimable, next_job
from backread.jobs.registry import (
    JOBS,
    HelperEnded,
    JobCancelled,
    JobGaveWay,
    JobInterrupted,
    JobPaused,
    JobStalled,
    JobStopped,
    LeaseLost,
    queue_of,
)
from backread.jobs.retrying import (
    MAX_FAILURES,
    MAX_LOSSES,
    RETRYABLE,
    SOON_SECONDS,
    backoff_seconds,
    reason_of,
    reason_of_loss,
)
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Job
from backread.store.repositories.job_queue import SERVER, note_turn
from backread.store.repositories.jobs import get_job, update_job, waiting_with_key
from backread.telemetry.spans import span

_TRIES_TO_CLAIM = 5
_UNFINISHED = frozenset({"failed", "dead", "cancelled"})
_AGAIN = frozenset({"retry", "interrupted", "gave_way", "paused"})

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a run led to: a state, or `retry`, `interrupted`, `gave_way`, `paused` and `lost`."""

    state: str
    reason: str = ""
    code: str = ""
    delay: float | None = None  # seconds until the next try, if it is not to be worked out


def run_next(
    kernel: Kernel,
    place: Place,
    *,
    stopping: StopSignal | None = None,
    end_process: Callable[[], None] | None = None,
) -> str | None:
    """Runs the job whose turn it is; returns its state afterwards, or None when none may begin."""
    for _ in range(_TRIES_TO_CLAIM):
        chosen = next_job(kernel, place)
        if chosen is None:
            return None
        state = run_job(kernel, chosen.id, stopping=stopping, place=place, end_process=end_process)
        if state is not None:
            return state  # otherwise somebody else was quicker
    return None


def run_job(
    kernel: Kernel,
    job_id: str,
    *,
    stopping: StopSignal | None = None,
    on_progress: ProgressListener | None = None,
    place: Place | None = None,
    end_process: Callable[[], None] | None = None,
) -> str | None:
    """Runs the job unless somebody else does or it is not due.

    With a `place` it gives way there to other accounts' jobs. `end_process` ends this process
    when the job does not answer any more.

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
        lease = Lease(
            kernel,
            job,
            stopping=stopping or threading.Event(),
            on_progress=on_progress,
            place=place,
            end_process=end_process,
        )
        with span(
            "job",
            kind=SpanKind.CONSUMER,
            asked_at=job.traceparent,
            job=job.name,
            queue=queue_of(job.name).value,
        ) as note:
            with lease:
                outcome = _execute(job, lease)
            state = _finish(kernel, job, lease, outcome)
            note(state=state, attempt=job.attempts)
        seconds = round(time.monotonic() - started, 3)
        _log.info("job_ended", state=state, how=outcome.state, seconds=seconds)
    if state == "queued" and outcome.state == "gave_way":
        send(job.id, job.name)
    if state not in {"queued", "lost"} and job.dedupe_key:
        _send_successor(kernel, job.dedupe_key)
    return state


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
                # A process that ended with the job counts until there is progress.
                losses=job.losses + (job.state == "running"),
                worker=worker,
                sent_at=None,
                lease_until=now + timedelta(seconds=settings.job_lease_seconds),
                started_at=job.started_at or now,
                claimed_at=now,
                units_per_second=0.0,
            )
            if not claimed:
                return None
            note_turn(session, job.account_id or SERVER, queue_of(job.name).value, now)
            job = get_job(session, job_id)
            session.expunge_all()
            return job
    except IntegrityError:
        return None  # another job with its dedupe key runs; it sends this one when it ends


def _execute(job: Job, lease: Lease) -> _Outcome:
    """Calls the job's function; answers with what that led to."""
    refusal = _refusal(job)
    if refusal is not None:
        return refusal
    try:
        JOBS[job.name].function(lease, **job.args)
    except JobStalled:
        _log.warning("job_stalled")
        minutes = lease.limits.stalled / 60
        return _Outcome("retry", f"The job got no further for {minutes:g} minutes.", "stalled")
    except JobStopped as stop:
        return _STOPPED[type(stop)]
    except HelperEnded as error:
        _log.warning("job_helper_ended", reason=str(error))
        return _Outcome("retry", *reason_of(error), delay=SOON_SECONDS)
    except RETRYABLE as error:
        _log.warning("job_will_retry", error=type(error).__name__, exc_info=True)
        wait = float(error.retry_after_seconds) if isinstance(error, RateLimited) else None
        return _Outcome("retry", *reason_of(error), delay=wait)
    except Exception as error:  # noqa: BLE001 - the job edge: whatever it was ends here, logged
        _log.exception("job_failed", error=type(error).__name__)
        return _Outcome("failed", *reason_of(error))
    return _Outcome("done")


_CANCELLED = _Outcome("cancelled", "Cancelled on request.", "cancelled")
_STOPPED: dict[type[JobStopped], _Outcome] = {
    JobCancelled: _CANCELLED,
    JobInterrupted: _Outcome("interrupted"),
    JobGaveWay: _Outcome("gave_way"),
    JobPaused: _Outcome("paused"),
    LeaseLost: _Outcome("lost"),
}


def _refusal(job: Job) -> _Outcome | None:
    """Why the job is not to be begun, if it is not."""
    if job.name not in JOBS:
        return _Outcome("failed", f"This release has no job called {job.name}.", "unknown_job")
    if job.cancel_requested_at is not None:
        return _CANCELLED  # while its worker was dead or going down
    if job.paused_at is not None:
        return _Outcome("paused")  # the same
    if job.failures >= MAX_FAILURES:
        return _Outcome("dead", job.error or "It failed each time.", job.error_code)
    if job.losses >= MAX_LOSSES:
        if job.error_code == "silent":
            return _Outcome("dead", job.error, "silent")
        return _Outcome("dead", reason_of_loss(job.losses), "lost")
    return None


def _finish(kernel: Kernel, job: Job, lease: Lease, outcome: _Outcome) -> str:
    state = outcome.state
    if state == "lost":
        _log.warning("job_lease_lost")
        return state
    failures = 0 if lease.progressed else job.failures
    if state == "retry":
        failures += 1
        state = "dead" if failures >= MAX_FAILURES else state
    if state in _UNFINISHED and not _told_unfinished(job, lease, state, outcome.reason):
        # What it worked on would look under way for ever. The job can be run once more, so its
        # end is written when that could be told.
        failures += 1
        state = state if failures >= 2 * MAX_FAILURES else "retry"
    now = utcnow()
    done, total = lease.progress
    values = {
        "failures": failures,
        "losses": 0 if lease.progressed or state != "dead" else job.losses,
        "error": outcome.reason,
        "error_code": outcome.code,
        "done_units": done,
        "total_units": total,
        "left_out": lease.left_out,
        "units_per_second": 0.0,
        "lease_until": None,
        "worker": "",
    }
    if state in _AGAIN:
        delay = 0.0
        if state == "retry":
            delay = backoff_seconds(failures) if outcome.delay is None else outcome.delay
        values |= {"run_after": next_start(now + timedelta(seconds=delay)), "sent_at": None}
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
        ended = values | {
            "finished_at": now,
            "run_after": now,
            "error": "A newer job of the same kind took over.",
        }
        with kernel.store.write() as session:
            _hand_pause_on(session, job)
            return "cancelled" if update_job(session, job, state="cancelled", **ended) else "lost"


def _hand_pause_on(session: WriteSession, job: Job) -> None:
    """Whoever paused the job wants its successor to wait."""
    present, waiting = get_job(session, job.id), waiting_with_key(session, job.dedupe_key)
    if present is not None and present.paused_at is not None and waiting is not None:
        pause(session, waiting)


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


def _send_successor(kernel: Kernel, dedupe_key: str) -> None:
    with kernel.store.read() as session:
        waiting = waiting_with_key(session, dedupe_key)
    if waiting is not None:
        send(waiting.id, waiting.name)
