import subprocess
import sys
import threading
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from backread.domain import Principal
from backread.jobs import JOBS, LeaseLost, Progress, cancel, enqueue, job, run_pending
from backread.jobs.lease import Lease
from backread.jobs.liveness import is_dead
from backread.jobs.retrying import MAX_FAILURES, backoff_seconds
from backread.jobs.runner import claim_job, run_job
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from tests.backread.jobs.conftest import change_job, read_job
from tests.backread.jobs.sample_jobs import trace
from tests.support import wait_until

_RUN_ALL = """
import sys
from backread.jobs.runner import run_job
from backread.kernel import Kernel
from backread.settings import Settings
from tests.backread.jobs import sample_jobs
kernel = Kernel(Settings())
sys.stdin.readline()
for job_id in sys.argv[1:]:
    run_job(kernel, job_id)
kernel.close()
"""


def _enqueue(kernel: Kernel, job_name: str, **args: Any) -> str:
    with kernel.store.write() as session:
        return enqueue(session, job_name, account_id=None, **args)


def test_a_job_runs_once_and_is_done(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.note", text="hello")
    assert run_job(kernel, job_id) == "done"
    assert run_job(kernel, job_id) is None
    assert trace(kernel.settings.home) == ["hello"]
    row = read_job(kernel.store, job_id)
    assert (row.state, row.attempts, row.lease_until) == ("done", 1, None)
    assert row.started_at is not None
    assert row.finished_at is not None


def test_of_two_processes_given_the_same_jobs_each_job_runs_in_one(
    kernel: Kernel, settings: Settings, database: str
) -> None:
    ids = [_enqueue(kernel, "sample.note", text=str(number)) for number in range(25)]
    environment = {
        "BACKREAD_HOME": str(settings.home),
        "BACKREAD_DATABASE_URL": database,
        "BACKREAD_EMBEDDING_MODEL": "hashing",
        "PYTHONPATH": ".",
    }
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _RUN_ALL, *ids],
            env=environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write(b"go\n")
        racer.stdin.close()
    assert [racer.wait(60) for racer in racers] == [0, 0]
    assert Counter(trace(settings.home)) == Counter(str(number) for number in range(25))


def test_an_error_of_the_job_itself_is_final_and_its_reason_is_kept(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.refuse")
    assert run_job(kernel, job_id) == "failed"
    row = read_job(kernel.store, job_id)
    assert row.error == "The file is a photo. Choose an export."
    assert trace(kernel.settings.home) == ["failed: The file is a photo. Choose an export."]


def test_an_end_that_could_not_be_told_is_told_later(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.refuse_untold")
    assert run_job(kernel, job_id) == "queued"
    change_job(kernel.store, job_id, run_after=utcnow() - timedelta(seconds=1))
    (kernel.settings.home / "can_tell").touch()
    assert run_job(kernel, job_id) == "failed"
    assert trace(kernel.settings.home) == ["failed: The file is a photo."]


def test_an_end_that_can_never_be_told_is_written_down_at_last(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.refuse_untold")
    change_job(kernel.store, job_id, failures=2 * MAX_FAILURES - 1)
    assert run_job(kernel, job_id) == "dead"


def test_what_a_chat_says_does_not_reach_the_row_through_an_error(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.crash", secret="my diary")
    assert run_job(kernel, job_id) == "failed"
    assert "diary" not in read_job(kernel.store, job_id).error
    assert "ValueError" in read_job(kernel.store, job_id).error


def test_a_part_that_is_down_is_tried_again_later_and_later(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.unavailable")
    assert run_job(kernel, job_id) == "queued"
    row = read_job(kernel.store, job_id)
    assert row.failures == 1
    assert row.run_after > utcnow()
    assert run_job(kernel, job_id) is None, "not before its time"

    change_job(kernel.store, job_id, run_after=utcnow() - timedelta(seconds=1))
    assert run_job(kernel, job_id) == "queued"
    assert read_job(kernel.store, job_id).failures == 2


@pytest.mark.parametrize("failures", [0, MAX_FAILURES - 2])
def test_a_job_whose_helper_was_ended_is_tried_again_at_once(kernel: Kernel, failures: int) -> None:
    job_id = _enqueue(kernel, "sample.helper_ended")
    change_job(kernel.store, job_id, failures=failures)
    assert run_job(kernel, job_id) == "queued"
    row = read_job(kernel.store, job_id)
    assert row.failures == failures + 1
    assert row.run_after <= utcnow() + timedelta(seconds=2)


def test_a_job_whose_helper_is_always_ended_dies_with_the_reason(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.helper_ended")
    change_job(kernel.store, job_id, failures=MAX_FAILURES - 1)
    assert run_job(kernel, job_id) == "dead"
    assert "was ended" in read_job(kernel.store, job_id).error


@pytest.mark.parametrize(
    ("failures", "least", "most"), [(1, 1, 3), (4, 8, 24), (MAX_FAILURES, 150, 450)]
)
def test_pauses_double_up_to_a_limit_and_are_spread(
    failures: int, least: float, most: float
) -> None:
    pauses = {backoff_seconds(failures) for _ in range(50)}
    assert all(least <= pause <= most for pause in pauses)
    assert len(pauses) > 1


def test_a_job_that_never_gets_on_dies_with_its_reason(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.unavailable")
    change_job(kernel.store, job_id, failures=MAX_FAILURES - 1)
    assert run_job(kernel, job_id) == "dead"
    assert read_job(kernel.store, job_id).error == "The embeddings endpoint does not answer."
    assert trace(kernel.settings.home) == ["dead: The embeddings endpoint does not answer."]


def test_progress_between_failures_keeps_a_job_alive(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.unavailable", progress=7)
    change_job(kernel.store, job_id, failures=MAX_FAILURES - 1)
    assert run_job(kernel, job_id) == "queued"
    row = read_job(kernel.store, job_id)
    assert (row.failures, row.done_units, row.total_units) == (1, 7, 100)


def test_a_job_of_another_release_fails_and_says_so(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.not_there")
    assert run_job(kernel, job_id) == "failed"
    assert "sample.not_there" in read_job(kernel.store, job_id).error


def test_a_job_that_was_called_off_while_its_worker_was_dead_is_not_begun_again(
    kernel: Kernel,
) -> None:
    job_id = _enqueue(kernel, "sample.refuse")
    change_job(kernel.store, job_id, state="running", cancel_requested_at=utcnow())
    assert run_job(kernel, job_id) == "cancelled"
    assert trace(kernel.settings.home) == ["cancelled: Cancelled on request."]


def test_a_request_to_cancel_is_seen_between_two_reports(
    kernel: Kernel, principal: Principal
) -> None:
    with kernel.store.write() as session:
        job_id = enqueue(session, "sample.check_only", account_id=principal.account_id)
    running = threading.Thread(target=run_job, args=(kernel, job_id))
    running.start()
    wait_until(lambda: trace(kernel.settings.home))
    with kernel.store.write() as session:
        assert cancel(session, principal.account_id, job_id) == "running"
    running.join(10)
    row = read_job(kernel.store, job_id)
    assert (row.state, row.done_units) == ("cancelled", 0)


def test_cancelling_a_running_job_stops_it_at_its_next_report(
    kernel: Kernel, principal: Principal
) -> None:
    with kernel.store.write() as session:
        job_id = enqueue(
            session, "sample.wait_for_file", account_id=principal.account_id, name="never"
        )
    runner = threading.Thread(target=run_job, args=(kernel, job_id))
    runner.start()
    wait_until(lambda: trace(kernel.settings.home))
    with kernel.store.write() as session:
        assert cancel(session, principal.account_id, job_id) == "running"
    runner.join(20)
    assert read_job(kernel.store, job_id).state == "cancelled"


def test_a_worker_that_is_told_to_end_leaves_its_job_queued(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.report_once")
    stopping = threading.Event()
    stopping.set()
    assert run_job(kernel, job_id, stopping=stopping) == "queued"
    row = read_job(kernel.store, job_id)
    assert (row.failures, row.worker, trace(kernel.settings.home)) == (0, "", [])
    assert run_job(kernel, job_id) == "done"


def test_a_live_lease_keeps_others_off_and_a_void_one_does_not(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.note", text="x")
    assert claim_job(kernel, job_id) is not None
    assert claim_job(kernel, job_id) is None

    change_job(kernel.store, job_id, lease_until=utcnow() - timedelta(seconds=1))
    assert run_job(kernel, job_id) == "done"
    assert read_job(kernel.store, job_id).attempts == 2


def test_who_lost_the_lease_is_stopped_and_changes_nothing(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.note", text="x")
    former = claim_job(kernel, job_id)
    assert former is not None
    with Lease(kernel, former, stopping=threading.Event()) as lease:
        change_job(kernel.store, job_id, lease_until=utcnow() - timedelta(seconds=1))
        assert claim_job(kernel, job_id) is not None

        def is_stopped() -> bool:
            try:
                lease.report(5, 5)
            except LeaseLost:
                return True
            return False

        wait_until(is_stopped)
    assert read_job(kernel.store, job_id).done_units == 0


def test_the_lease_of_a_killed_process_is_void_at_once(kernel: Kernel) -> None:
    job_id = _enqueue(kernel, "sample.wait_for_file", name="go")
    child = subprocess.Popen(
        [sys.executable, "-c", _RUN_ALL, job_id],
        env={
            "BACKREAD_HOME": str(kernel.settings.home),
            "BACKREAD_DATABASE_URL": kernel.settings.sqlalchemy_url,
            "PYTHONPATH": ".",
        },
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdin is not None
    child.stdin.write(b"go\n")
    child.stdin.close()
    wait_until(lambda: trace(kernel.settings.home))
    worker = read_job(kernel.store, job_id).worker
    assert not is_dead(kernel.settings, worker)
    assert claim_job(kernel, job_id) is None

    child.kill()
    child.wait(10)
    assert is_dead(kernel.settings, worker)
    (kernel.settings.home / "go").touch()
    assert run_job(kernel, job_id) == "done"


def test_pending_jobs_run_inline_with_those_they_enqueue_and_tell_of_progress(
    kernel: Kernel,
) -> None:
    @job("sample.enqueue_another")
    def enqueue_another(context: Lease) -> None:
        with context.kernel.store.write() as session:
            enqueue(session, "sample.report_once", account_id=None)

    _enqueue(kernel, "sample.note_later", text="last")
    _enqueue(kernel, "sample.enqueue_another")
    seen: list[Progress] = []
    assert run_pending(kernel, on_progress=seen.append) == 3
    assert [(each.name, each.done, each.total) for each in seen] == [
        ("sample.report_once", 1, 2),
        ("sample.report_once", 2, 2),
    ]
    del JOBS["sample.enqueue_another"]


def test_only_the_jobs_asked_for_run_inline(kernel: Kernel) -> None:
    other = _enqueue(kernel, "sample.note", text="x")
    _enqueue(kernel, "sample.report_once")
    assert run_pending(kernel, names=["sample.report_once"]) == 1
    assert read_job(kernel.store, other).state == "queued"
