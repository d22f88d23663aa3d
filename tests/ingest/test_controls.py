"""Pausing an import, going on with it, and carrying a trial run out."""

import time
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from backread.domain import Principal
from backread.errors import Conflict, NotFound
from backread.jobs import JobInterrupted, Progress, run_pending
from backread.kernel import Kernel
from backread.store.models import Conversation, Import, Job
from ingest.accept import RUN_JOB
from ingest.controls import cancel_import, carry_out, pause_import, resume_import
from ingest.indexing import EMBED_PASSAGES
from ingest.report import ImportReport, read_report
from ingest.verify import verify_account
from tests.ingest.exports import (
    as_zip,
    assert_adds_up,
    chatgpt,
    claude,
    import_files,
    queue_import,
    write,
)
from tests.support import waiting_jobs

_CHATS = 900


@pytest.fixture
def waiting(kernel: Kernel, principal: Principal, tmp_path: Path) -> str:
    """A queued import of three batches; its id."""
    raw = [claude(f"c{n}") for n in range(_CHATS)]
    path = as_zip({"c.json": raw}, tmp_path / "c.zip")
    return queue_import(kernel, principal, path)


def report_of(kernel: Kernel, principal: Principal, import_id: str) -> ImportReport:
    with kernel.store.read() as session:
        return read_report(session, principal, import_id, items_limit=0)


def pause(kernel: Kernel, principal: Principal, import_id: str) -> str:
    with kernel.store.write() as session:
        return pause_import(session, principal, import_id)


def resume(kernel: Kernel, principal: Principal, import_id: str) -> str:
    with kernel.store.write() as session:
        return resume_import(session, principal, import_id)


def cancel(kernel: Kernel, principal: Principal, import_id: str) -> str:
    with kernel.store.write() as session:
        return cancel_import(session, principal, import_id)


def stored(kernel: Kernel) -> int:
    with kernel.store.read() as session:
        return session.scalar(select(func.count()).select_from(Conversation)) or 0


def run_and_pause_after_a_batch(kernel: Kernel, principal: Principal, import_id: str) -> None:
    def listen(_progress: Progress) -> None:
        report = report_of(kernel, principal, import_id)
        if report.totals.new and report.state == "running":
            pause(kernel, principal, import_id)

    run_pending(kernel, names=[RUN_JOB], on_progress=listen)


def assert_complete(kernel: Kernel, principal: Principal, import_id: str) -> None:
    report = report_of(kernel, principal, import_id)
    assert report.state == "readable"
    assert (report.totals.found, report.totals.new) == (_CHATS, _CHATS)
    assert stored(kernel) == _CHATS
    assert_adds_up(report)
    assert verify_account(kernel, principal.account_id).problems == []


def test_an_import_that_waits_is_held_back_until_it_is_resumed(
    kernel: Kernel, principal: Principal, waiting: str
) -> None:
    assert pause(kernel, principal, waiting) == "paused"
    assert pause(kernel, principal, waiting) == "paused"
    assert run_pending(kernel, names=[RUN_JOB]) == 0
    assert report_of(kernel, principal, waiting).state == "paused"
    assert resume(kernel, principal, waiting) == "queued"
    assert resume(kernel, principal, waiting) == "queued"
    assert run_pending(kernel, names=[RUN_JOB]) == 1
    assert_complete(kernel, principal, waiting)


def test_a_running_import_stops_at_its_next_batch_and_goes_on_from_there(
    kernel: Kernel, principal: Principal, waiting: str
) -> None:
    run_and_pause_after_a_batch(kernel, principal, waiting)
    paused = report_of(kernel, principal, waiting)
    assert paused.state == "paused"
    assert not paused.is_finished
    assert paused.finished_at is None
    assert 0 < paused.totals.new == stored(kernel) < _CHATS
    with kernel.store.read() as session:
        jobs = session.scalars(select(Job.state).where(Job.name == RUN_JOB)).all()
        assert list(jobs) == ["cancelled"]  # the worker is free
        assert waiting_jobs(session, EMBED_PASSAGES)
    resume(kernel, principal, waiting)
    run_pending(kernel, names=[RUN_JOB])
    assert_complete(kernel, principal, waiting)


def test_a_pause_is_noticed_within_seconds_while_a_batch_is_read(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    """Between two reports of progress, as in a large file in which nothing is found for long."""
    path = as_zip({"c.json": [claude(f"c{n}") for n in range(20_000)]}, tmp_path / "c.zip")
    import_id = queue_import(kernel, principal, path)
    asked: list[float] = []

    def listen(_progress: Progress) -> None:
        if not asked:
            pause(kernel, principal, import_id)
            asked.append(time.monotonic())

    run_pending(kernel, names=[RUN_JOB], on_progress=listen)
    assert asked
    assert time.monotonic() - asked[0] < 5
    assert report_of(kernel, principal, import_id).state == "paused"
    assert stored(kernel) < 20_000


def test_a_pause_that_meets_a_shutdown_is_still_a_pause(
    kernel: Kernel, principal: Principal, waiting: str
) -> None:
    def listen(_progress: Progress) -> None:
        if report_of(kernel, principal, waiting).totals.new:
            pause(kernel, principal, waiting)
            raise JobInterrupted

    run_pending(kernel, names=[RUN_JOB], on_progress=listen)
    assert report_of(kernel, principal, waiting).state == "paused"
    run_pending(kernel, names=[RUN_JOB])  # after the restart
    assert report_of(kernel, principal, waiting).state == "paused"
    resume(kernel, principal, waiting)
    run_pending(kernel, names=[RUN_JOB])
    assert_complete(kernel, principal, waiting)


def test_a_resumed_import_goes_on_though_the_job_that_was_paused_waits_again(
    kernel: Kernel, principal: Principal, waiting: str
) -> None:
    """The server went down before the pause was noticed, and resuming came before its restart."""
    with kernel.store.write() as session:
        pause_import(session, principal, waiting)
        # The job that was called off is queued again by the worker that went down.
        session.execute(update(Job).where(Job.name == RUN_JOB).values(state="queued"))
    resume(kernel, principal, waiting)
    run_pending(kernel, names=[RUN_JOB])
    assert_complete(kernel, principal, waiting)


def test_an_import_resumed_after_its_worker_was_killed_is_not_cancelled(
    kernel: Kernel, principal: Principal, waiting: str
) -> None:
    with kernel.store.write() as session:
        # Claimed by a worker that is dead; the pause reaches nobody.
        session.execute(
            update(Job).where(Job.name == RUN_JOB).values(state="running", lease_until=None)
        )
        session.execute(update(Import).values(state="running"))
    pause(kernel, principal, waiting)
    assert resume(kernel, principal, waiting) == "queued"
    run_pending(kernel, names=[RUN_JOB])
    assert_complete(kernel, principal, waiting)


def test_an_import_that_is_called_off_after_its_worker_was_killed_ends_as_cancelled(
    kernel: Kernel, principal: Principal, waiting: str
) -> None:
    with kernel.store.write() as session:
        session.execute(
            update(Job).where(Job.name == RUN_JOB).values(state="running", lease_until=None)
        )
    assert cancel(kernel, principal, waiting) == "queued"
    run_pending(kernel, names=[RUN_JOB])
    assert report_of(kernel, principal, waiting).state == "cancelled"
    assert stored(kernel) == 0


def test_a_paused_import_keeps_its_files_until_it_is_called_off(
    kernel: Kernel, principal: Principal
) -> None:
    uploaded = write(
        kernel.settings.uploads_dir / "u.json", [claude(f"c{n}") for n in range(_CHATS)]
    )
    import_id = queue_import(kernel, principal, uploaded, owns_files=True)
    run_and_pause_after_a_batch(kernel, principal, import_id)
    assert uploaded.exists()
    assert cancel(kernel, principal, import_id) == "cancelled"
    assert not uploaded.exists()
    report = report_of(kernel, principal, import_id)
    assert 0 < report.totals.new < _CHATS  # what was stored stays
    assert_adds_up(report)
    assert pause(kernel, principal, import_id) == "cancelled"
    assert resume(kernel, principal, import_id) == "cancelled"


def test_controls_of_another_account_find_nothing(
    kernel: Kernel, principal: Principal, stranger: Principal, waiting: str
) -> None:
    for control in (pause, resume, cancel):
        with pytest.raises(NotFound):
            control(kernel, stranger, waiting)
    with kernel.store.write() as session, pytest.raises(NotFound):
        carry_out(session, stranger, waiting)


def test_a_trial_run_is_carried_out_without_its_files_being_sent_again(
    kernel: Kernel, principal: Principal
) -> None:
    uploaded = write(kernel.settings.uploads_dir / "u.json", [chatgpt("a"), chatgpt("b")])
    trial = import_files(kernel, principal, uploaded, owns_files=True, dry_run=True)
    assert (trial.totals.new, trial.can_be_carried_out) == (2, True)
    assert stored(kernel) == 0
    with kernel.store.write() as session:
        import_id = carry_out(session, principal, trial.id)
    run_pending(kernel, names=[RUN_JOB])
    report = report_of(kernel, principal, import_id)
    assert (report.state, report.is_dry_run, report.totals.new) == ("readable", False, 2)
    assert not uploaded.exists()
    assert not report_of(kernel, principal, trial.id).can_be_carried_out
    with kernel.store.write() as session, pytest.raises(Conflict):
        carry_out(session, principal, trial.id)


def test_only_a_trial_run_whose_files_are_here_can_be_carried_out(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    own = import_files(kernel, principal, write(tmp_path / "a.json", [chatgpt()]), dry_run=True)
    uploaded = write(kernel.settings.uploads_dir / "u.json", [chatgpt("b")])
    real = import_files(kernel, principal, uploaded, owns_files=True)
    gone = write(kernel.settings.uploads_dir / "g.json", [chatgpt("c")])
    lost = import_files(kernel, principal, gone, owns_files=True, dry_run=True)
    gone.unlink()
    for report in (own, real, lost):
        with kernel.store.write() as session, pytest.raises(Conflict):
            carry_out(session, principal, report.id)
