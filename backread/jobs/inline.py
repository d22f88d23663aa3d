"""Running due jobs in this process: the command line without a server, and the worker of an
installation that has no broker."""

import os
import threading
from collections.abc import Callable, Sequence

from sqlalchemy.exc import OperationalError

from backread.jobs.lease import ProgressListener, StopSignal
from backread.jobs.liveness import join_group
from backread.jobs.picking import Place, next_job
from backread.jobs.registry import Queue
from backread.jobs.runner import run_job, run_next
from backread.jobs.schedule import SCHEDULE
from backread.kernel import Kernel
from backread.log import get_logger

# A command that works alone: nothing is kept free for others, and nothing gives way.
_ALONE = Place(tuple(Queue), slots=1_000_000, group="alone-")
_SLOTS = {Queue.INTERACTIVE: 2, Queue.BACKGROUND: 1}
_POLL_SECONDS = 0.5
_SCHEDULE_STEP_SECONDS = 60.0

_log = get_logger(__name__)


def run_pending(
    kernel: Kernel,
    *,
    names: Sequence[str] | None = None,
    on_progress: ProgressListener | None = None,
    stopping: StopSignal | None = None,
) -> int:
    """Runs due jobs, and those that they enqueue, until none is due; returns how many ran.

    Those that people wait for come before those of the background, and accounts take turns.
    `names` limits it to these jobs. A job that is to be retried later is left for later. Once
    `stopping` is set, the running job is queued again at its next report, and no other is begun.
    """
    stopping = stopping or threading.Event()
    count = 0
    while not stopping.is_set():
        job = next_job(kernel, _ALONE, names)
        if job is None:
            break
        if run_job(kernel, job.id, stopping=stopping, on_progress=on_progress) is None:
            break  # somebody else was quicker, so somebody else works on the outbox
        count += 1
    return count


def serve_polling(kernel: Kernel, stopping: threading.Event) -> None:
    """Runs jobs as they come until `stopping` is set: threads for each queue, looking into the
    outbox twice a second, and one that does what beat sends elsewhere."""
    serve_places(kernel, stopping, _places(join_group()), end_process=_end_process)


def _places(group: str) -> list[Place]:
    return [Place((queue,), _SLOTS[queue], group) for queue in Queue]


def serve_places(
    kernel: Kernel,
    stopping: threading.Event,
    places: Sequence[Place],
    *,
    end_process: Callable[[], None] | None = None,
) -> None:
    """As `serve_polling`, with a thread for each slot of the places."""
    threads = [
        threading.Thread(
            target=_poll, args=(kernel, place, stopping, end_process), name=f"jobs-{number}"
        )
        for place in places
        for number in range(place.slots)
    ]
    threads.append(threading.Thread(target=_keep_schedule, args=(kernel, stopping), name="beat"))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _end_process() -> None:
    os._exit(1)  # whoever started it starts a fresh one


def _keep_schedule(kernel: Kernel, stopping: threading.Event) -> None:
    """Each entry at its pace; sweeping is for brokers."""
    due = {entry.name: entry.seconds for entry in SCHEDULE if not entry.for_broker}
    passed = 0.0
    while not stopping.wait(_SCHEDULE_STEP_SECONDS):
        passed += _SCHEDULE_STEP_SECONDS
        for entry in SCHEDULE:
            if entry.name in due and passed >= due[entry.name]:
                due[entry.name] = passed + entry.seconds
                _do(kernel, entry.name, entry.run)


def _do(kernel: Kernel, name: str, run: Callable[[Kernel], object]) -> None:
    try:
        run(kernel)
    except OperationalError as error:
        _log.warning("schedule_missed", entry=name, error=type(error).__name__)  # until next time


def _poll(
    kernel: Kernel,
    place: Place,
    stopping: threading.Event,
    end_process: Callable[[], None] | None,
) -> None:
    try:
        while not stopping.is_set():
            if not _run_next(kernel, place, stopping, end_process):
                stopping.wait(_POLL_SECONDS)
    finally:
        # If this thread fails, the process is to end and be started again, not to go on half.
        stopping.set()


def _run_next(
    kernel: Kernel,
    place: Place,
    stopping: StopSignal,
    end_process: Callable[[], None] | None,
) -> bool:
    """True when a job ran, so that the next one need not wait."""
    try:
        return run_next(kernel, place, stopping=stopping, end_process=end_process) is not None
    except OperationalError as error:
        _log.warning("outbox_not_read", error=type(error).__name__)  # busy or away for a moment
        return False
