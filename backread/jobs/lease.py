"""The hold that a running job has on its row, kept by a thread beside the job."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Protocol, Self

from sqlalchemy.exc import OperationalError

from backread.jobs.registry import JobCancelled, JobInterrupted, JobStopped, LeaseLost
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.models import Job
from backread.store.repositories.jobs import get_job, update_job

BEAT_SECONDS = 1.0
STUCK_AFTER_SECONDS = 1800.0

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


class Lease:
    """The `JobContext` of one run. As a context manager it keeps the lease alive: it writes
    progress about once a second, looks for a request to cancel, and notices a takeover."""

    def __init__(
        self,
        kernel: Kernel,
        job: Job,
        *,
        stopping: StopSignal,
        on_progress: ProgressListener | None = None,
    ) -> None:
        self.kernel = kernel
        self.job_id = job.id
        self.account_id = job.account_id
        self.progressed = False
        self._job = job
        self._stopping = stopping
        self._on_progress = on_progress
        self._progress = (job.done_units, job.total_units)
        self._written = self._progress
        self._stop: type[JobStopped] | None = None
        self._ended = threading.Event()
        self._wake = threading.Event()
        self._reported_at = time.monotonic()
        self._extended_at = time.monotonic()
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

    def report(self, done: int, total: int) -> None:
        self._progress = (done, total)
        if not self.progressed and done > self._job.done_units:
            self.progressed = True
            self._wake.set()  # the first step is written at once: a crash after it is no failure
        if self._on_progress is not None:
            self._on_progress(Progress(self.job_id, self._job.name, done, total))
        self.check()

    def check(self) -> None:
        self._reported_at = time.monotonic()
        if self._stop is None and self._stopping.is_set():
            self._stop = JobInterrupted
        if self._stop is not None:
            raise self._stop(self.job_id)

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
        if self._stop is LeaseLost:
            return
        now = time.monotonic()
        if now - self._reported_at > STUCK_AFTER_SECONDS:
            return
        lease_seconds = self.kernel.settings.job_lease_seconds
        if self._progress != self._written or now - self._extended_at > lease_seconds / 4:
            self._write(lease_seconds)

    def _write(self, lease_seconds: int) -> None:
        done, total = self._progress
        with self.kernel.store.write() as session:
            is_mine = update_job(
                session,
                self._job,
                done_units=done,
                total_units=total,
                lease_until=utcnow() + timedelta(seconds=lease_seconds),
                **({"failures": 0} if self.progressed else {}),
            )
        if not is_mine:
            self._stop = LeaseLost
        self._written = (done, total)
        self._extended_at = time.monotonic()
