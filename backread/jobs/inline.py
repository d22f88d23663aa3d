"""Running due jobs in this process: the command line without a server, and the worker of an
installation that has no broker."""

import threading
from collections.abc import Sequence

from sqlalchemy.exc import OperationalError

from backread.jobs.lease import ProgressListener, StopSignal
from backread.jobs.registry import Queue, queue_of
from backread.jobs.runner import is_claimable, run_job
from backread.jobs.sweeper import tidy
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.repositories.jobs import due_jobs

_POLL_SECONDS = 0.5
_TIDY_SECONDS = 3600.0

_log = get_logger(__name__)


def run_pending(
    kernel: Kernel,
    *,
    names: Sequence[str] | None = None,
    on_progress: ProgressListener | None = None,
    stopping: StopSignal | None = None,
) -> int:
    """Runs due jobs, and those that they enqueue, until none is due; returns how many ran.

    Oldest first, those that people wait for before those of the background. `names` limits it to
    these jobs. A job that is to be retried later is left for later. Once `stopping` is set, the
    running job is queued again at its next report, and no other is begun.
    """
    stopping = stopping or threading.Event()
    count = 0
    while not stopping.is_set():
        job_id = _next_due(kernel, names, tuple(Queue))
        if job_id is None:
            break
        if run_job(kernel, job_id, stopping=stopping, on_progress=on_progress) is None:
            break  # somebody else was quicker, so somebody else works on the outbox
        count += 1
    return count


def serve_polling(kernel: Kernel, stopping: threading.Event) -> None:
    """Runs jobs as they come until `stopping` is set: one thread for each queue, looking into
    the outbox twice a second, and one that tidies up every hour, as beat does elsewhere."""
    threads = [
        threading.Thread(target=_poll, args=(kernel, queue, stopping), name=f"jobs-{queue}")
        for queue in Queue
    ]
    threads.append(threading.Thread(target=_tidy, args=(kernel, stopping), name="tidy"))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _tidy(kernel: Kernel, stopping: threading.Event) -> None:
    while not stopping.wait(_TIDY_SECONDS):
        try:
            tidy(kernel)
        except OperationalError as error:
            _log.warning("not_tidied", error=type(error).__name__)  # an hour later again


def _poll(kernel: Kernel, queue: Queue, stopping: threading.Event) -> None:
    try:
        while not stopping.is_set():
            if not _run_next(kernel, queue, stopping):
                stopping.wait(_POLL_SECONDS)
    finally:
        # If this thread fails, the process is to end and be started again, not to go on half.
        stopping.set()


def _run_next(kernel: Kernel, queue: Queue, stopping: StopSignal) -> bool:
    """True when a job ran, so that the next one need not wait."""
    try:
        job_id = _next_due(kernel, None, (queue,))
        return job_id is not None and run_job(kernel, job_id, stopping=stopping) is not None
    except OperationalError as error:
        _log.warning("outbox_not_read", error=type(error).__name__)  # busy or away for a moment
        return False


def _next_due(kernel: Kernel, names: Sequence[str] | None, queues: Sequence[Queue]) -> str | None:
    now = utcnow()
    with kernel.store.read() as session:
        jobs = due_jobs(session, now, names=names)
    running = {job.dedupe_key for job in jobs if job.state == "running" and job.dedupe_key}
    candidates = [
        job
        for job in jobs
        if queue_of(job.name) in queues
        and is_claimable(kernel.settings, job, now)
        and not (job.state == "queued" and job.dedupe_key in running)
    ]
    order = list(Queue)
    candidates.sort(key=lambda job: order.index(queue_of(job.name)))
    return candidates[0].id if candidates else None
