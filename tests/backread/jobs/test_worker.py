"""Real workers, killed and stopped for real: Celery over the bundled broker on its socket, Celery
over a server named by a URL, and the worker that needs no broker.

The server is the one that `BACKREAD_TEST_REDIS_URL` names, whose database of that number is
emptied, or the bundled program on a port of its own.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backread.domain import Principal
from backread.jobs import enqueue
from backread.jobs.broker import SWEEP, app, connect, is_connected
from backread.jobs.retrying import MAX_LOSSES
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import Store
from tests.backread.jobs.conftest import add, read_job
from tests.backread.jobs.sample_jobs import trace
from tests.support import wait_until

_WORKER = """
import sys
from backread.jobs.registry import Queue
from backread.jobs.worker import serve_worker
from backread.settings import Settings
from tests.backread.jobs import sample_jobs
sys.exit(serve_worker(Settings(), queues=list(Queue), concurrency=int(sys.argv[1])))
"""
_POLLING_WORKER = """
import signal, sys, threading
from backread.jobs.inline import serve_places
from backread.jobs.liveness import join_group
from backread.jobs.picking import Place
from backread.jobs.registry import Queue
from backread.kernel import Kernel
from backread.settings import Settings
from tests.backread.jobs import sample_jobs
stopping = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopping.set())
kernel = Kernel(Settings())
serve_places(kernel, stopping, [Place(tuple(Queue), int(sys.argv[1]), join_group())])
kernel.close()
"""

StartWorker = Callable[..., "subprocess.Popen[bytes]"]
KINDS = ["bundled broker", "server by URL", "no broker"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def broker_url(kind: str, settings: Settings, request: pytest.FixtureRequest) -> str:
    """Of a running broker; empty where the worker needs none."""
    if kind == "no broker":
        return ""
    name = "local_broker" if kind == "bundled broker" else "redis_server"
    url: str = getattr(request.getfixturevalue(name), "url", "")
    assert url
    connect(Settings(**(settings.model_dump() | {"broker_url": url})))
    return url


@pytest.fixture
def start_worker(broker_url: str, database: str, home: Path) -> Iterator[StartWorker]:
    started: list[subprocess.Popen[bytes]] = []

    def start(slots: int = 1) -> "subprocess.Popen[bytes]":
        with open(home / "worker.log", "ab") as log:
            worker = subprocess.Popen(
                [sys.executable, "-c", _WORKER if broker_url else _POLLING_WORKER, str(slots)],
                env={
                    "BACKREAD_HOME": str(home),
                    "BACKREAD_DATABASE_URL": database,
                    "BACKREAD_BROKER_URL": broker_url,
                    "BACKREAD_EMBEDDING_MODEL": "hashing",
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
    if not is_connected():
        return
    with app.connection_for_write() as connection:
        app.send_task(SWEEP, connection=connection)


def test_a_job_goes_on_when_its_process_is_killed_and_again_when_its_worker_is(
    kernel: Kernel, home: Path, start_worker: StartWorker, broker_url: str
) -> None:
    worker = start_worker()
    job_id = _enqueue_waiting(kernel.store)
    wait_until(lambda: len(_runs(home)) == 1, seconds=30, what="the first run")

    os.kill(_runs(home)[0], signal.SIGKILL)
    if not broker_url:  # the process was all there was of the worker; `backread up` starts another
        worker.wait(10)
        worker = start_worker()
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
    if is_connected():
        with app.connection_for_write() as connection:
            app.send_task("backread.run_job", args=[job_id], connection=connection)
    start_worker()
    wait_until(lambda: read_job(kernel.store, again).state == "done", seconds=30)
    wait_until(lambda: read_job(kernel.store, job_id).state == "done")
    assert sorted(trace(home)) == ["x", "y"]


def test_a_small_job_of_one_account_ends_while_a_large_one_of_another_runs(
    kernel: Kernel,
    home: Path,
    start_worker: StartWorker,
    principal: Principal,
    stranger: Principal,
) -> None:
    start_worker(2)
    large = add(kernel, "sample.big", principal, name="go")
    further = add(kernel, "sample.big", principal, name="go")
    wait_until(lambda: trace(home), seconds=30, what="the large job")
    small = add(kernel, "sample.note", stranger, text="small")
    wait_until(lambda: read_job(kernel.store, small).state == "done", what="the small job")
    states = {read_job(kernel.store, job_id).state for job_id in (large, further)}
    assert states == {"running", "queued"}, "the account has no more than its share"

    (home / "go").touch()
    wait_until(lambda: read_job(kernel.store, large).state == "done", what="the large job's end")
    wait_until(lambda: read_job(kernel.store, further).state == "done", what="the one after it")


@pytest.mark.parametrize("kind", ["bundled broker"], indirect=True)
def test_a_job_that_kills_its_process_each_time_ends_as_dead_and_others_still_run(
    kernel: Kernel,
    home: Path,
    start_worker: StartWorker,
    principal: Principal,
    stranger: Principal,
) -> None:
    start_worker()
    poison = add(kernel, "sample.kill_itself", principal)
    others = [add(kernel, "sample.note", whose, text="x") for whose in (principal, stranger) * 3]
    wait_until(
        lambda: {read_job(kernel.store, job_id).state for job_id in others} == {"done"},
        seconds=60,
        what="the others",
    )
    wait_until(
        lambda: read_job(kernel.store, poison).state == "dead",
        seconds=60,
        what="the end of the poisonous job",
    )
    row = read_job(kernel.store, poison)
    assert row.losses == MAX_LOSSES
    assert row.attempts == MAX_LOSSES + 1
    assert "ended 10 times" in row.error
    assert trace(home)[-1] == f"dead: {row.error}"
    after = add(kernel, "sample.note", principal, text="after")
    wait_until(lambda: read_job(kernel.store, after).state == "done", what="one more job")
    assert read_job(kernel.store, poison).attempts == MAX_LOSSES + 1, "and it is not begun again"
