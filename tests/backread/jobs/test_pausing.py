"""Jobs that a person holds back."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from backread.domain import Principal
from backread.jobs import Progress, enqueue, run_pending
from backread.jobs.dead_letters import retry_job
from backread.jobs.pausing import NEVER, pause, resume
from backread.jobs.runner import run_job
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Job
from backread.store.repositories.jobs import get_job
from tests.backread.jobs.conftest import add, read_job
from tests.backread.jobs.sample_jobs import trace


def hold(kernel: Kernel, job_id: str) -> None:
    with kernel.store.write() as session:
        job = get_job(session, job_id)
        assert job is not None
        pause(session, job)


def let_go(kernel: Kernel, job_id: str) -> None:
    with kernel.store.write() as session:
        job = get_job(session, job_id)
        assert job is not None
        resume(session, job)


def test_a_waiting_job_that_is_paused_is_not_begun_until_it_may_go_on(
    kernel: Kernel, principal: Principal
) -> None:
    job_id = add(kernel, "sample.note", principal, text="begun")
    hold(kernel, job_id)
    assert run_pending(kernel) == 0
    let_go(kernel, job_id)
    assert run_pending(kernel) == 1
    assert trace(kernel.settings.home) == ["begun"]


def test_a_running_job_stops_at_its_next_report_and_goes_on_where_it_was(
    kernel: Kernel, principal: Principal
) -> None:
    job_id = add(kernel, "sample.wait_for_file", principal, name="go")
    paused: list[bool] = []

    def when_reported(progress: Progress) -> None:
        if progress.done >= 2 and not paused:
            paused.append(True)
            hold(kernel, job_id)

    assert run_job(kernel, job_id, on_progress=when_reported) == "queued"
    row = read_job(kernel.store, job_id)
    assert (row.state, row.failures, row.error) == ("queued", 0, "")
    assert row.done_units >= 2
    assert run_pending(kernel) == 0
    (kernel.settings.home / "go").touch()
    let_go(kernel, job_id)
    run_pending(kernel)
    assert read_job(kernel.store, job_id).state == "done"


def test_a_job_that_is_let_go_on_before_it_has_stopped_is_not_held_back(
    kernel: Kernel, principal: Principal
) -> None:
    job_id = add(kernel, "sample.wait_for_file", principal, name="go")
    paused: list[bool] = []

    def when_reported(progress: Progress) -> None:
        if progress.done >= 2 and not paused:
            paused.append(True)
            hold(kernel, job_id)
            (kernel.settings.home / "go").touch()
            let_go(kernel, job_id)

    run_job(kernel, job_id, on_progress=when_reported)
    run_pending(kernel)
    assert read_job(kernel.store, job_id).state == "done"


def test_what_was_asked_for_meanwhile_under_its_key_waits_with_it(
    kernel: Kernel, principal: Principal
) -> None:
    with kernel.store.write() as session:
        first = enqueue(
            session,
            "sample.wait_for_file",
            account_id=principal.account_id,
            dedupe_key="one",
            name="go",
        )
    successor: list[str] = []

    def when_reported(progress: Progress) -> None:
        if progress.done >= 2 and not successor:
            with kernel.store.write() as session:
                successor.append(
                    enqueue(
                        session,
                        "sample.wait_for_file",
                        account_id=principal.account_id,
                        dedupe_key="one",
                        name="go",
                    )
                )
            hold(kernel, first)

    run_job(kernel, first, on_progress=when_reported)
    assert read_job(kernel.store, first).state == "cancelled"
    waiting: Job = read_job(kernel.store, successor[0])
    assert waiting.paused_at is not None
    assert run_pending(kernel) == 0


def test_a_paused_job_that_fails_is_not_tried_again_until_it_may_go_on(
    kernel: Kernel, principal: Principal
) -> None:
    job_id = add(kernel, "sample.unavailable", principal, progress=1)
    run_job(kernel, job_id, on_progress=lambda _: hold(kernel, job_id))
    row = read_job(kernel.store, job_id)
    assert (row.state, row.error_code, row.run_after) == ("queued", "unavailable", NEVER)


def test_a_paused_job_that_had_failed_begins_when_it_is_to_be_tried_again(
    kernel: Kernel, principal: Principal
) -> None:
    job_id = add(kernel, "sample.note", principal, text="begun")
    with kernel.store.write() as session:
        session.execute(update(Job).values(state="dead", paused_at=utcnow()))
    with kernel.store.write() as session:
        retry_job(session, principal, job_id)
    assert read_job(kernel.store, job_id).paused_at is None
    assert run_pending(kernel) == 1


def test_a_paused_job_whose_worker_died_waits_and_does_nothing(
    kernel: Kernel, principal: Principal
) -> None:
    job_id = add(kernel, "sample.note", principal, text="begun")
    with kernel.store.write() as session:
        gone = utcnow() - timedelta(minutes=1)
        session.execute(
            update(Job)
            .where(Job.id == job_id)
            .values(state="running", attempts=1, lease_until=gone, paused_at=gone)
        )
    run_pending(kernel)
    assert trace(kernel.settings.home) == []
    assert read_job(kernel.store, job_id).run_after == NEVER
    let_go(kernel, job_id)
    assert run_pending(kernel) == 1
    assert trace(kernel.settings.home) == ["begun"]


@pytest.mark.parametrize("now", ["running", "queued"])
def test_a_job_that_begins_or_stops_just_then_is_paused_and_let_go_on_all_the_same(
    kernel: Kernel, principal: Principal, now: str
) -> None:
    job_id = add(kernel, "sample.note", principal, text="begun")
    for change, is_held in ((pause, True), (resume, False)):
        with kernel.store.write() as session:
            job = get_job(session, job_id)
            assert job is not None
            session.execute(
                update(Job)
                .where(Job.id == job_id)
                .values(state=now, attempts=Job.attempts + 1)
                .execution_options(synchronize_session=False)
            )
            change(session, job)
        assert (read_job(kernel.store, job_id).paused_at is not None) is is_held
