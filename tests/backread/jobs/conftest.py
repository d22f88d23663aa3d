import subprocess
from collections.abc import Iterator

import pytest

from backread.jobs.broker import connect
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
