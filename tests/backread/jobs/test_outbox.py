from datetime import timedelta

import pytest
import redis
from sqlalchemy import select

from backread.domain import Principal
from backread.errors import NotFound
from backread.jobs import Queue, cancel, enqueue
from backread.jobs.broker import connect
from backread.jobs.runner import claim_job, run_job
from backread.jobs.sweeper import sweep
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import Store
from backread.store.models import Job
from backread.store.repositories.jobs import mark_sent
from backread.supervisor.broker import LocalBroker
from tests.backread.jobs.conftest import change_job, read_job


def _waiting(broker: LocalBroker, queue: Queue) -> int:
    with redis.Redis(unix_socket_path=str(broker.socket)) as client:
        length = client.llen(queue.value)
    assert isinstance(length, int)
    return length


def _note(store: Store, **options: str) -> str:
    with store.write() as session:
        return enqueue(session, "sample.note", account_id=None, text="x", **options)


class _Refused(Exception):
    """What goes wrong in a caller's transaction after it has enqueued a job."""


def _note_and_fail(store: Store) -> None:
    with store.write() as session:
        enqueue(session, "sample.note", account_id=None, text="x")
        raise _Refused


def test_a_rolled_back_transaction_takes_its_job_along(store: Store) -> None:
    with pytest.raises(_Refused):
        _note_and_fail(store)
    with store.read() as session:
        assert session.scalar(select(Job)) is None


def test_an_id_is_sent_after_the_commit_and_never_after_a_rollback(
    store: Store, connected: Settings, local_broker: LocalBroker
) -> None:
    with store.write() as session:
        enqueue(session, "sample.note", account_id=None, text="x")
        assert _waiting(local_broker, Queue.INTERACTIVE) == 0
    assert _waiting(local_broker, Queue.INTERACTIVE) == 1

    with pytest.raises(_Refused):
        _note_and_fail(store)
    assert _waiting(local_broker, Queue.INTERACTIVE) == 1


def test_long_jobs_wait_on_a_queue_of_their_own(
    store: Store, connected: Settings, local_broker: LocalBroker
) -> None:
    with store.write() as session:
        enqueue(session, "sample.note_later", account_id=None, text="x")
    assert _waiting(local_broker, Queue.BACKGROUND) == 1
    assert _waiting(local_broker, Queue.INTERACTIVE) == 0


def test_a_broker_that_is_down_does_not_fail_the_request_and_the_sweeper_sends_later(
    kernel: Kernel, settings: Settings, local_broker: LocalBroker
) -> None:
    away = local_broker.socket.with_name("nobody.sock")
    connect(Settings(**(settings.model_dump() | {"broker_url": f"redis+socket://{away}"})))
    job_id = _note(kernel.store)
    assert read_job(kernel.store, job_id).state == "queued"

    connect(Settings(**(settings.model_dump() | {"broker_url": local_broker.url})))
    change_job(kernel.store, job_id, created_at=utcnow() - timedelta(minutes=1))
    assert sweep(kernel) == 1
    assert _waiting(local_broker, Queue.INTERACTIVE) == 1
    assert sweep(kernel) == 0
    assert sweep(kernel, is_new_worker=True) == 1, "what its predecessor had been sent is lost"


def test_a_job_that_was_begun_while_it_was_sent_is_sent_again_when_its_worker_dies(
    kernel: Kernel,
) -> None:
    job_id = _note(kernel.store)
    before = read_job(kernel.store, job_id)
    assert claim_job(kernel, job_id) is not None
    with kernel.store.write() as session:
        mark_sent(session, [before], utcnow())
    assert read_job(kernel.store, job_id).sent_at is None


def test_a_second_job_with_the_key_of_a_waiting_one_is_that_one(store: Store) -> None:
    first = _note(store, dedupe_key="k")
    assert _note(store, dedupe_key="k") == first
    assert _note(store, dedupe_key="other") != first


def test_while_a_job_runs_one_more_of_its_key_may_wait_and_runs_afterwards(
    kernel: Kernel,
) -> None:
    running = _note(kernel.store, dedupe_key="k")
    assert claim_job(kernel, running) is not None
    waiting = _note(kernel.store, dedupe_key="k")
    assert waiting != running
    assert _note(kernel.store, dedupe_key="k") == waiting
    assert run_job(kernel, waiting) is None

    change_job(kernel.store, running, state="done")
    assert run_job(kernel, waiting) == "done"


def test_cancelling_a_waiting_job_ends_it_at_once(kernel: Kernel, principal: Principal) -> None:
    with kernel.store.write() as session:
        job_id = enqueue(session, "sample.note", account_id=principal.account_id, text="x")
    with kernel.store.write() as session:
        assert cancel(session, principal.account_id, job_id) == "cancelled"
    assert run_job(kernel, job_id) is None
    with kernel.store.write() as session:
        assert cancel(session, principal.account_id, job_id) == "cancelled"


def test_nobody_cancels_another_accounts_job(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    with kernel.store.write() as session:
        job_id = enqueue(session, "sample.note", account_id=principal.account_id, text="x")
    with pytest.raises(NotFound), kernel.store.write() as session:
        cancel(session, stranger.account_id, job_id)
    assert read_job(kernel.store, job_id).state == "queued"
