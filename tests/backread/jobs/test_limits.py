"""Jobs that are stuck, that kill their process, and that ask to be tried later."""

import threading
from datetime import timedelta

from backread.jobs.retrying import MAX_LOSSES
from backread.jobs.runner import claim_job, run_job
from backread.kernel import Kernel
from backread.store.base import utcnow
from tests.backread.jobs import sample_jobs
from tests.backread.jobs.conftest import add, change_job, read_job
from tests.backread.jobs.sample_jobs import trace


def test_a_job_that_gets_nowhere_is_stopped_and_tried_again_with_the_reason(
    kernel: Kernel,
) -> None:
    job_id = add(kernel, "sample.gets_nowhere", None)
    assert run_job(kernel, job_id) == "queued"
    row = read_job(kernel.store, job_id)
    assert (row.failures, row.error_code) == (1, "stalled")
    assert row.error == "The job got no further for 0.002 minutes."


def test_a_job_that_does_not_answer_has_its_process_ended_and_the_row_says_why(
    kernel: Kernel,
) -> None:
    sample_jobs.HANGING.clear()
    job_id = add(kernel, "sample.hangs", None)
    ended = threading.Event()

    def end_process() -> None:
        ended.set()
        sample_jobs.HANGING.set()

    assert run_job(kernel, job_id, end_process=end_process) == "lost"
    assert ended.is_set()
    row = read_job(kernel.store, job_id)
    assert (row.state, row.losses, row.error_code, row.worker) == ("queued", 1, "silent", "")
    assert "gave no sign of life" in row.error
    assert row.run_after > utcnow() - timedelta(seconds=1)

    change_job(kernel.store, job_id, losses=MAX_LOSSES, run_after=utcnow())
    assert run_job(kernel, job_id) == "dead"
    assert "gave no sign of life" in read_job(kernel.store, job_id).error


def test_a_job_whose_process_ends_each_time_dies_with_that_reason(kernel: Kernel) -> None:
    job_id = add(kernel, "sample.kill_itself", None)
    for _ in range(MAX_LOSSES):
        assert claim_job(kernel, job_id) is not None
        change_job(kernel.store, job_id, lease_until=None)  # as if its process had ended
    assert run_job(kernel, job_id) == "dead"
    row = read_job(kernel.store, job_id)
    assert (row.losses, row.error_code) == (MAX_LOSSES, "lost")
    assert f"ended {MAX_LOSSES} times before the job got anywhere" in row.error
    assert trace(kernel.settings.home) == [f"dead: {row.error}"]


def test_progress_between_two_losses_keeps_a_job_alive(kernel: Kernel) -> None:
    job_id = add(kernel, "sample.report_once", None)
    change_job(kernel.store, job_id, losses=MAX_LOSSES - 1)
    assert run_job(kernel, job_id) == "done"
    assert read_job(kernel.store, job_id).losses == 0


def test_a_job_that_met_a_limit_is_tried_when_that_is_over(kernel: Kernel) -> None:
    job_id = add(kernel, "sample.rate_limited", None)
    assert run_job(kernel, job_id) == "queued"
    wait = read_job(kernel.store, job_id).run_after - utcnow()
    assert timedelta(seconds=70) < wait <= timedelta(seconds=77)
