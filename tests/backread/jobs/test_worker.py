"""Real workers: Celery over the bundled broker, killed and stopped for real."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backread.jobs import enqueue
from backread.jobs.broker import SWEEP, app
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import Store
from tests.backread.jobs.conftest import read_job
from tests.backread.jobs.sample_jobs import trace
from tests.support import wait_until

_WORKER = """
import sys
from backread.jobs.registry import Queue
from backread.jobs.worker import serve_worker
from backread.settings import Settings
from tests.backread.jobs import sample_jobs
sys.exit(serve_worker(Settings(), queues=list(Queue), concurrency=1))
"""

StartWorker = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def start_worker(connected: Settings, database: str, home: Path) -> Iterator[StartWorker]:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> "subprocess.Popen[bytes]":
        with open(home / "worker.log", "ab") as log:
            worker = subprocess.Popen(
                [sys.executable, "-c", _WORKER],
                env={
                    "BACKREAD_HOME": str(home),
                    "BACKREAD_DATABASE_URL": database,
                    "BACKREAD_BROKER_URL": connected.broker_url,
                    "PYTHONPATH": ".",
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        started.append(worker)
        return worker

    yield start
    for worker in started:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait(10)


def _enqueue_waiting(store: Store) -> str:
    with store.write() as session:
        return enqueue(session, "sample.wait_for_file", account_id=None, name="go")


def _runs(home: Path) -> list[int]:
    """Process ids of the runs so far."""
    return [int(line.split()[1]) for line in trace(home) if line.startswith("start")]


def _sweep() -> None:
    """What the beat does every few seconds."""
    with app.connection_for_write() as connection:
        app.send_task(SWEEP, connection=connection)


def test_a_job_goes_on_when_its_process_is_killed_and_again_when_its_worker_is(
    kernel: Kernel, home: Path, start_worker: StartWorker
) -> None:
    worker = start_worker()
    job_id = _enqueue_waiting(kernel.store)
    wait_until(lambda: len(_runs(home)) == 1, seconds=30, what="the first run")

    os.kill(_runs(home)[0], signal.SIGKILL)
    wait_until(lambda: len(_runs(home)) == 2, seconds=30, what="the run after the process")

    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait(10)
    start_worker()
    wait_until(lambda: len(_runs(home)) == 3, seconds=30, what="the run after the worker")

    (home / "go").touch()
    wait_until(lambda: read_job(kernel.store, job_id).state == "done")
    assert trace(home).count("end") == 1
    assert read_job(kernel.store, job_id).attempts == 3


def test_a_worker_that_is_asked_to_stop_hands_its_job_to_the_next(
    kernel: Kernel, home: Path, start_worker: StartWorker
) -> None:
    worker = start_worker()
    job_id = _enqueue_waiting(kernel.store)
    wait_until(lambda: _runs(home), seconds=30, what="the first run")
    worker.terminate()
    assert worker.wait(20) == 0
    assert read_job(kernel.store, job_id).state == "queued"

    (home / "go").touch()
    start_worker()
    wait_until(lambda: read_job(kernel.store, job_id).state == "done", seconds=30)
    assert read_job(kernel.store, job_id).failures == 0


def test_a_message_that_comes_twice_runs_once(
    kernel: Kernel, home: Path, start_worker: StartWorker
) -> None:
    with kernel.store.write() as session:
        job_id = enqueue(session, "sample.note", account_id=None, text="x")
        again = enqueue(session, "sample.note", account_id=None, text="y")
    with app.connection_for_write() as connection:
        app.send_task("backread.run_job", args=[job_id], connection=connection)
    start_worker()
    wait_until(lambda: read_job(kernel.store, again).state == "done", seconds=30)
    wait_until(lambda: read_job(kernel.store, job_id).state == "done")
    assert sorted(trace(home)) == ["x", "y"]
