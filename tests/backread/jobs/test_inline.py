import threading

from backread.jobs import enqueue
from backread.jobs.inline import serve_polling
from backread.kernel import Kernel
from tests.backread.jobs.conftest import read_job
from tests.backread.jobs.sample_jobs import trace
from tests.support import wait_until


def test_a_worker_without_a_broker_takes_both_queues_at_the_same_time(kernel: Kernel) -> None:
    with kernel.store.write() as session:
        long = enqueue(session, "sample.wait_for_file", account_id=None, name="go")
    stopping = threading.Event()
    worker = threading.Thread(target=serve_polling, args=(kernel, stopping))
    worker.start()
    wait_until(lambda: trace(kernel.settings.home), what="the long job")
    with kernel.store.write() as session:
        quick = enqueue(session, "sample.note", account_id=None, text="quick")
    wait_until(lambda: read_job(kernel.store, quick).state == "done", what="the quick job")
    assert read_job(kernel.store, long).state == "running"

    stopping.set()
    worker.join(20)
    assert not worker.is_alive()
    assert read_job(kernel.store, long).state == "queued"
