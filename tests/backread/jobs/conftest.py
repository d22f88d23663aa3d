import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from backread.domain import Principal
from backread.jobs import enqueue
from backread.jobs.broker import connect
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.models import Job
from backread.supervisor.broker import LocalBroker, find_local_broker
from tests.backread.jobs import sample_jobs
from tests.support import wait_until

__all__ = ["sample_jobs"]


@pytest.fixture
def local_broker(settings: Settings) -> Iterator[LocalBroker]:
    """The bundled broker, running, on a socket of this test's data folder."""
    broker = find_local_broker(settings)
    assert broker is not None
    settings.run_dir.mkdir(exist_ok=True)
    broker.clear()
    process = subprocess.Popen(broker.command, stdout=subprocess.DEVNULL)
    wait_until(broker.is_ready)
    yield broker
    connect(settings)  # however the test ended: the next one must not send to what is gone
    process.terminate()
    process.wait(10)


@dataclass(frozen=True)
class RedisServer:
    url: str


@pytest.fixture
def redis_server(settings: Settings, tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis or Valkey server on a network address, empty at first."""
    url = os.environ.get("BACKREAD_TEST_REDIS_URL", "")
    if url:
        with redis.Redis.from_url(url) as client:
            client.flushdb()
        yield RedisServer(url)
        connect(settings)
        return
    program = find_local_broker(settings)
    assert program is not None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(program.program), "--bind", "127.0.0.1", "--port", str(port), "--save", ""]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tmp_path)
    url = f"redis://127.0.0.1:{port}/0"
    wait_until(lambda: _answers(url), what="the server")
    yield RedisServer(url)
    connect(settings)  # as above
    process.terminate()
    process.wait(10)


def _answers(url: str) -> bool:
    with redis.Redis.from_url(url) as client:
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False


@pytest.fixture
def connected(settings: Settings, local_broker: LocalBroker) -> Settings:
    """Settings with the broker; this process sends to it until the test ends."""
    with_broker = Settings(**(settings.model_dump() | {"broker_url": local_broker.url}))
    connect(with_broker)
    return with_broker


def read_job(store: Store, job_id: str) -> Job:
    with store.read() as session:
        job = session.get(Job, job_id)
        assert job is not None
        return job


def change_job(store: Store, job_id: str, **values: object) -> None:
    with store.write() as session:
        job = session.get(Job, job_id)
        for name, value in values.items():
            setattr(job, name, value)


def add(kernel: Kernel, job: str, whose: Principal | None, /, **args: Any) -> str:
    """Queues a sample job and returns its id."""
    with kernel.store.write() as session:
        return enqueue(session, job, account_id=whose.account_id if whose else None, **args)
