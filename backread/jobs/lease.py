"""The hold that a running job has on its row, kept by a thread beside the job."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Protocol, Self

from sqlalchemy.exc import OperationalError

from backread.jobs.pausing import next_start
from backread.jobs.picking import Place, must_give_way
from backread.jobs.registry import (
    JOBS,
    JobCancelled,
    JobGaveWay,
    JobInterrupted,
    JobPaused,
    JobStalled,
    JobStopped,
    LeaseLost,
)
from backread.jobs.retrying import backoff_seconds
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.models import Job
from backread.store.repositories.jobs import get_job, update_job

BEAT_SECONDS = 1.0
# Taking a job up again may cost something, so what it costs stays a small part of its turn.
_TURN_PER_START = 5.0
_RATE_MEMORY_SECONDS = 20.0

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    job_id: str
    name: str
    done: int
    total: int


ProgressListener = Callable[[Progress], None]


class StopSignal(Protocol):
    """Set when this process is asked to end, e.g. a `threading.Event`."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a job may get no further, and how long it may not answer, in seconds."""

    stalled: float
    silent: float


class Lease:
    """The `JobContext` of one run. As a context manager it keeps the lease alive: it writes
    progress about once a second, looks for a request to cancel and for jobs that should have this
    one's place, notices a takeover, and sees to the limits of time.

    `end_process` is called when the job does not answer any more; without it nobody can end the
    job, and its lease is left to run out.
    """

    def __init__(
        self,
        kernel: Kernel,
        job: Job,
        *,
        stopping: StopSignal,
        on_progress: ProgressListener | None = None,
        place: Place | None = None,
        end_process: Callable[[], None] | None = None,
    ) -> None:
        self.kernel = kernel
        self.job_id = job.id
        self.account_id = job.account_id
        self.progressed = False
        self._job = job
        self._stopping = stopping
        self._on_progress = on_progress
        self._place = place
        self._end_process = end_process
        self._limits = _limits_of(kernel, job)
        self._left_out = job.left_out
        self._progress = (job.done_units, job.total_units)
        self._written = self._progress
        self._first: int | None = None  # the first number that this run reported
        self._stop: type[JobStopped] | None = None
        self._gives_way = False
        self._ended = threading.Event()
        self._wake = threading.Event()
        now = time.monotonic()
        self._began_at = now
        self._steady_at: float | None = None  # when it was seen to get on
        self._reported_at = now
        self._moved_at = now
        self._extended_at = now
        self._rate = _Rate(now)
        self._thread = threading.Thread(target=self._keep, name=f"lease-{job.id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._wake.set()
        self._thread.join()

    @property
    def progress(self) -> tuple[int, int]:
        return self._progress

    @property
    def left_out(self) -> int:
        """Items that could not be done, those of former runs with them."""
        return self._left_out

    @property
    def limits(self) -> Limits:
        return self._limits

    def report(self, done: int, total: int) -> None:
        now = time.monotonic()
        moved = (done, total) != self._progress or self._first is None
        if moved:
            self._moved_at = now
        self._progress = (done, total)
        self._note_progress(done, now)
        if self._on_progress is not None:
            self._on_progress(Progress(self.job_id, self._job.name, done, total))
        self.check()
        if self._gives_way and moved and self._steady_at is not None:
            raise JobGaveWay(self.job_id)

    def _note_progress(self, done: int, now: float) -> None:
        if self._first is None:
            self._first = done
        elif done > self._first and self._steady_at is None:
            self._steady_at = now
        if not self.progressed and (done > self._job.done_units or self._steady_at is not None):
            self.progressed = True
            self._wake.set()  # the first step is written at once: a crash after it is no failure

    def check(self) -> None:
        now = time.monotonic()
        self._reported_at = now
        if self._stop is None and self._stopping.is_set():
            self._stop = JobInterrupted
        if self._stop is None and now - self._moved_at > self._limits.stalled:
            self._stop = JobStalled
        if self._stop is not None:
            raise self._stop(self.job_id)

    def leave_out(self) -> None:
        self._left_out += 1

    def _keep(self) -> None:
        while True:
            self._wake.wait(BEAT_SECONDS)
            self._wake.clear()
            if self._ended.is_set():
                return
            try:
                self._beat()
            except OperationalError as error:
                # Busy or away for a moment. The lease outlasts several beats.
                _log.warning("lease_beat_failed", error=type(error).__name__)

    def _beat(self) -> None:
        with self.kernel.store.read() as session:
            row = get_job(session, self.job_id)
        if row is None or row.state != "running" or row.attempts != self._job.attempts:
            self._stop = LeaseLost
        elif row.cancel_requested_at is not None:
            self._stop = JobCancelled
        elif row.paused_at is not None:
            self._stop = JobPaused
        if self._stop is LeaseLost:
            return
        now = time.monotonic()
        if now - self._reported_at > self._limits.silent:
            self._end_silent(row)
            return
        self._rate.note(self._progress[0], now)
        lease_seconds = self.kernel.settings.job_lease_seconds
        if self._progress != self._written or now - self._extended_at > lease_seconds / 4:
            self._write(lease_seconds)
        if self._place is not None and self._has_had_its_turn(now):
            self._gives_way = must_give_way(self.kernel, self._place, self.job_id)

    def _has_had_its_turn(self, now: float) -> bool:
        if self._place is None or self._steady_at is None:
            return False
        start = self._steady_at - self._began_at
        return now - self._began_at > max(self._place.turn_seconds, _TURN_PER_START * start)

    def _write(self, lease_seconds: int) -> None:
        done, total = self._progress
        with self.kernel.store.write() as session:
            is_mine = update_job(
                session,
                self._job,
                done_units=done,
                total_units=total,
                left_out=self._left_out,
                units_per_second=self._rate.value,
                lease_until=utcnow() + timedelta(seconds=lease_seconds),
                **({"failures": 0, "losses": 0} if self.progressed else {}),
            )
        if not is_mine:
            self._stop = LeaseLost
        self._written = (done, total)
        self._extended_at = time.monotonic()

    def _end_silent(self, row: Job | None) -> None:
        """Writes down why, queues the job again, and ends the process that it hangs in."""
        if self._end_process is None or row is None:
            return
        _log.error("job_silent", job_id=self.job_id, job=self._job.name)
        losses = row.losses + 1
        with self.kernel.store.write() as session:
            update_job(
                session,
                self._job,
                state="queued",
                losses=losses,
                error=f"The job gave no sign of life for {self._limits.silent / 60:g} minutes, so "
                "its process was ended.",
                error_code="silent",
                lease_until=None,
                worker="",
                sent_at=None,
                run_after=next_start(utcnow() + timedelta(seconds=backoff_seconds(losses))),
            )
        self._stop = LeaseLost  # should it wake up before the process has ended
        self._end_process()


class _Rate:
    """Units in a second, of the last seconds more than of those before."""

    def __init__(self, now: float) -> None:
        self.value = 0.0
        self._at = now
        self._done: int | None = None

    def note(self, done: int, now: float) -> None:
        if self._done is None or done < self._done:
            self._done, self._at = done, now
            return
        passed = now - self._at
        if passed <= 0:
            return
        share = min(1.0, passed / _RATE_MEMORY_SECONDS) if self.value else 1.0
        self.value += share * ((done - self._done) / passed - self.value)
        self._done, self._at = done, now


def _limits_of(kernel: Kernel, job: Job) -> Limits:
    definition = JOBS.get(job.name)
    settings = kernel.settings
    stalled = definition.stalled_minutes if definition else None
    silent = definition.silent_minutes if definition else None
    return Limits(
        60.0 * (stalled or settings.job_stalled_minutes),
        60.0 * (silent or settings.job_silent_minutes),
    )
