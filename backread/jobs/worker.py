"""The worker process: Celery with a pool of forked processes, each with a kernel of its own."""

import logging
import mmap
import os
import socket
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from celery import Task, signals
from celery.exceptions import SecurityWarning
from opentelemetry.trace import SpanKind

from backread import log
from backread.jobs.broker import RUN_JOB, SWEEP, app, connect, send
from backread.jobs.liveness import join_group
from backread.jobs.picking import Place, next_job
from backread.jobs.registry import Queue
from backread.jobs.runner import run_next
from backread.jobs.schedule import SCHEDULE
from backread.jobs.sweeper import sweep
from backread.jobs.watchdog import watch_queues
from backread.kernel import Kernel
from backread.settings import Settings
from backread.telemetry.spans import span
from backread.telemetry.tracing import start_tracing

_ORPHAN_CHECK_SECONDS = 1.0


class SharedFlag:
    """A stop signal that forked pool processes share with their parent. Unlike a semaphore it
    cannot be left locked by a process that was killed."""

    def __init__(self) -> None:
        self._byte = mmap.mmap(-1, 1)

    def set(self) -> None:
        self._byte[0] = 1

    def is_set(self) -> bool:
        return self._byte[0] == 1


class KernelTask(Task):
    """Base of every task: gives it the kernel of its process, opened after the fork, and the
    worker's place among the queues.

    Transactions, retries, limits of time and the log's context belong to the run of a job
    (`backread/jobs/runner.py`), so they are the same without Celery.

    What a task may raise is left to Celery, which logs it and drops the message; the row in the
    database still says what is to be done.
    """

    abstract = True
    settings: ClassVar[Settings]
    open_kernel: ClassVar[Callable[[Settings], Kernel]]
    stopping: ClassVar[SharedFlag]
    place: ClassVar[Place]
    _kernel: ClassVar[Kernel | None] = None

    @property
    def kernel(self) -> Kernel:
        if KernelTask._kernel is None:
            KernelTask._kernel = KernelTask.open_kernel(KernelTask.settings)
        return KernelTask._kernel

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with span("task", kind=SpanKind.CONSUMER, task=self.name):
            return super().__call__(*args, **kwargs)

    @staticmethod
    def close_kernel() -> None:
        if KernelTask._kernel is not None:
            KernelTask._kernel.close()
            KernelTask._kernel = None


@app.task(base=KernelTask, bind=True, name=RUN_JOB)
def run_job_by_id(self: KernelTask, job_id: str) -> None:
    """The message says that a job waits; which one comes next is seen in the database. As many
    messages as there are jobs, so each runs one."""
    kernel, place = self.kernel, KernelTask.place
    state = run_next(kernel, place, stopping=KernelTask.stopping, end_process=_end_at_once)
    if state is not None and place.slots > 1 and not KernelTask.stopping.is_set():
        # One that may not begin while its account had a job here has used up its message.
        waiting = next_job(kernel, place)
        if waiting is not None:
            send(waiting.id, waiting.name)


def _end_at_once() -> None:
    os._exit(1)  # the pool puts another process in its place


@app.task(base=KernelTask, bind=True, name=SWEEP)
def sweep_outbox(self: KernelTask, is_new_worker: bool = False) -> None:
    sweep(self.kernel, is_new_worker=is_new_worker)


def _add_scheduled(name: str, run: Callable[[Kernel], object]) -> None:
    @app.task(base=KernelTask, bind=True, name=name)
    def scheduled(self: KernelTask) -> None:
        run(self.kernel)


for entry in SCHEDULE:
    if entry.name != SWEEP:
        _add_scheduled(entry.name, entry.run)


def serve_worker(
    settings: Settings,
    *,
    queues: Sequence[Queue],
    concurrency: int,
    open_kernel: Callable[[Settings], Kernel] = Kernel,
) -> int:
    """Runs a worker until it is told to stop, and returns its exit code.

    SIGTERM lets running jobs stop at their next report; they are queued again. The caller has
    imported the modules that register jobs. `open_kernel` runs in each pool process.
    """
    KernelTask.settings = settings
    KernelTask.open_kernel = open_kernel
    KernelTask.stopping = SharedFlag()
    KernelTask.place = Place(tuple(queues), concurrency, join_group())
    # Celery warns about pickled messages when root runs it. Ours are JSON only.
    warnings.simplefilter("ignore", SecurityWarning)
    signals.setup_logging.connect(_configure_log)
    signals.worker_process_init.connect(_start_pool_process)
    signals.worker_process_shutdown.connect(_end_pool_process)
    signals.worker_shutting_down.connect(_stop_jobs)

    def sweep_now(**_signal: Any) -> None:
        # What the former worker was doing when it was killed goes on at once.
        app.send_task(SWEEP, args=[True], queue=queues[0].value, retry=False)

    def watch(**_signal: Any) -> None:
        # Once: the signal comes again with each new connection to the broker.
        signals.worker_ready.disconnect(watch)
        watch_queues(app, [queue.value for queue in queues])

    signals.worker_ready.connect(sweep_now, weak=False)
    signals.worker_ready.connect(watch, weak=False)
    worker = connect(settings).Worker(
        hostname=f"{'-'.join(queues)}@{socket.gethostname()}",
        queues=[queue.value for queue in queues],
        concurrency=concurrency,
        pool="prefork",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


def serve_beat(settings: Settings) -> None:
    """Sends the periodic tasks until it is told to stop. One per installation."""
    signals.setup_logging.connect(_configure_log)
    KernelTask.settings = settings
    beat = connect(settings)
    beat.conf.beat_schedule = {
        entry.name: {
            "task": entry.name,
            "schedule": entry.seconds,
            "options": {"queue": Queue.INTERACTIVE.value, "expires": entry.expires_seconds},
        }
        for entry in SCHEDULE
    }
    beat.Beat(quiet=True).run()


def _configure_log(**_signal: Any) -> None:
    level = KernelTask.settings.log_level
    log.configure(level)
    logging.getLogger("celery.apps.worker").setLevel(logging.INFO)


def _start_pool_process(**_signal: Any) -> None:
    start_tracing(KernelTask.settings, "worker")
    threading.Thread(target=_end_with, args=(os.getppid(),), name="orphan", daemon=True).start()


def _end_with(parent: int) -> None:
    """A pool process whose worker was killed would finish its job unseen, and then wait for ever.
    It ends instead; the next worker takes the job up where it was."""
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(_ORPHAN_CHECK_SECONDS)
    os._exit(1)


def _end_pool_process(**_signal: Any) -> None:
    KernelTask.close_kernel()


def _stop_jobs(**_signal: Any) -> None:
    KernelTask.stopping.set()
