"""Large files are read by a process of their own; what becomes of an import stays the same."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import func, select

import ingest.tasks  # noqa: F401 - registers the jobs
from backread.domain import Principal
from backread.jobs import JobCancelled, Progress, run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Conversation, Import, Job, Message
from ingest.accept import RUN_JOB
from ingest.batches import BATCH_BYTES, BATCH_CONVERSATIONS
from ingest.report import ImportReport, read_report
from ingest.run import run_import
from ingest.verify import verify_account
from tests.ingest.exports import assert_adds_up, claude, import_files, queue_import, write
from tests.support import wait_until

_CHATS = 3 * BATCH_CONVERSATIONS + 100
_MESSAGES = 2 * _CHATS
_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export of several batches that is worth a process: its chats have long texts."""
    path = tmp_path_factory.mktemp("large") / "chats.json"
    turns = ("How is a kiln built? " * 170, "With bricks and patience. " * 140)
    return write(path, [claude(f"chat-{number}", turns) for number in range(_CHATS)])


def _readers(parent: int) -> list[int]:
    """The reading processes of a process, by what the system says of its children."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            words = (entry / "cmdline").read_text()
        except OSError:
            continue  # it ended meanwhile
        if state[0] != "Z" and int(state[1]) == parent and "reading_ahead" in words:
            found.append(int(entry.name))
    return found


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return False
    return state[0] != "Z"


def _report(kernel: Kernel, principal: Principal, import_id: str) -> ImportReport:
    with kernel.store.read() as session:
        return read_report(session, principal, import_id)


def _counts(kernel: Kernel) -> tuple[int, int]:
    with kernel.store.read() as session:
        return (
            session.scalar(select(func.count()).select_from(Conversation)) or 0,
            session.scalar(select(func.count()).select_from(Message)) or 0,
        )


def _stored(kernel: Kernel) -> int:
    with kernel.store.read() as session:
        return session.scalar(select(func.sum(Import.found))) or 0


def _make_due(kernel: Kernel) -> None:
    """What is to be tried later is to be tried now."""
    with kernel.store.write() as session:
        for job in session.scalars(select(Job).where(Job.state == "queued")):
            job.run_after = utcnow()


def test_a_large_file_is_read_beside_the_process_that_stores_and_arrives_whole(
    kernel: Kernel, principal: Principal, large: Path
) -> None:
    readers: set[int] = set()

    def look(progress: Progress) -> None:
        readers.update(_readers(os.getpid()))

    import_id = queue_import(kernel, principal, large)
    run_pending(kernel, names=[RUN_JOB], on_progress=look)
    report = _report(kernel, principal, import_id)
    assert_adds_up(report)
    assert (report.state, report.totals.new) == ("readable", _CHATS)
    assert _counts(kernel) == (_CHATS, _MESSAGES)
    assert verify_account(kernel, principal.account_id).problems == []
    assert len(readers) == 1
    assert not _readers(os.getpid())
    again = import_files(kernel, principal, large)
    assert (again.totals.new, again.totals.updated) == (0, 0)
    assert again.totals.unchanged == _CHATS


def test_a_reader_that_is_killed_stops_the_import_which_then_goes_on_where_it_was(
    kernel: Kernel, principal: Principal, large: Path
) -> None:
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        if _stored(kernel) and not killed:
            killed.extend(_readers(os.getpid()))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    import_id = queue_import(kernel, principal, large)
    run_pending(kernel, names=[RUN_JOB], on_progress=kill)
    assert killed
    with kernel.store.read() as session:
        job = session.scalars(select(Job).where(Job.name == RUN_JOB)).one()
    assert job.state == "queued"
    assert "ended from outside" in job.error
    before, _ = _counts(kernel)
    assert 0 < before < _CHATS
    _make_due(kernel)
    run_pending(kernel, names=[RUN_JOB])
    assert _report(kernel, principal, import_id).totals.new == _CHATS
    assert _counts(kernel) == (_CHATS, _MESSAGES)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_reader_ends_when_the_process_that_it_reads_for_is_killed(
    kernel: Kernel, principal: Principal, settings: Settings, large: Path
) -> None:
    queue_import(kernel, principal, large)
    process = subprocess.Popen(
        [
            sys.executable,
            str(_ROOT / "tests" / "ingest" / "import_process.py"),
            str(settings.home),
            settings.database_url,
        ],
        env=os.environ | {"PYTHONPATH": str(_ROOT)},
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: bool(_stored(kernel)), seconds=60, what="a batch")
        readers = _readers(process.pid)
    finally:
        process.kill()
        process.wait(timeout=20)
    assert readers
    wait_until(lambda: not any(map(_is_running, readers)), seconds=60, what="the reader's end")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_cancelled_import_keeps_the_batches_before_and_stores_nothing_after(
    kernel: Kernel, principal: Principal, large: Path
) -> None:
    stored_at_cancel = 0

    def cancel(progress: Progress) -> None:
        nonlocal stored_at_cancel
        stored_at_cancel = _stored(kernel)
        if stored_at_cancel:
            raise JobCancelled(progress.job_id)

    import_id = queue_import(kernel, principal, large)
    run_pending(kernel, names=[RUN_JOB], on_progress=cancel)
    report = _report(kernel, principal, import_id)
    assert report.state == "cancelled"
    assert 0 < report.totals.new == stored_at_cancel < _CHATS
    assert _counts(kernel)[0] == stored_at_cancel
    assert not _readers(os.getpid())


class _CancelledContext:
    """What a job gets that is called off at the n-th time it asks."""

    def __init__(self, kernel: Kernel, principal: Principal, *, at: int) -> None:
        self.kernel = kernel
        self.job_id = "job"
        self.account_id: str | None = principal.account_id
        self.checks = 0
        self._at = at

    def report(self, done: int, total: int) -> None:
        self.check()

    def check(self) -> None:
        self.checks += 1
        if self.checks >= self._at:
            raise JobCancelled(self.job_id)

    def leave_out(self) -> None:
        raise AssertionError("no item was to fail")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("size", ["small", "large"])
def test_a_cancel_in_the_middle_of_a_batch_ends_it_there(
    kernel: Kernel, principal: Principal, tmp_path: Path, size: str
) -> None:
    """Of sixty chats in one batch, no more than the checks until then were begun."""
    words = "word " * (20_000 if size == "small" else 40_000)
    chats = [claude(f"chat-{number}", name=words) for number in range(60)]
    import_id = queue_import(kernel, principal, write(tmp_path / "chats.json", chats))
    context = _CancelledContext(kernel, principal, at=40 if size == "small" else 1)
    with pytest.raises(JobCancelled):
        run_import(context, import_id)
    assert context.checks == (40 if size == "small" else 1)
    assert _stored(kernel) == 0
    assert not _readers(os.getpid())


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("size", ["small", "large"])
def test_what_is_wrong_with_a_file_is_told_alike_whoever_reads_it(
    kernel: Kernel, principal: Principal, tmp_path: Path, size: str
) -> None:
    """A parcel list is no chat export, however long it is."""
    weight = 2 * BATCH_BYTES if size == "large" else 10
    parcels = [{"parcel": number, "label": "x" * (weight // 10)} for number in range(10)]
    report = import_files(kernel, principal, write(tmp_path / "parcels.json", parcels))
    assert report.state == "failed"
    assert report.error is not None
    assert report.error.code == "unreadable_import"
    assert report.error.message.startswith("parcels.json is JSON, but holds no conversations")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_conversation_that_comes_twice_in_a_large_file_is_one(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    """The second copy is prepared while the first one is not stored yet."""
    filler = [claude(f"filler-{n}", name="word " * 20_000) for n in range(90)]
    twice = claude("twice", name="First title")
    renamed = twice | {"name": "Second title", "updated_at": "2030-01-01T00:00:00Z"}
    chats = [twice, *filler, renamed]
    report = import_files(kernel, principal, write(tmp_path / "chats.json", chats))
    assert (report.totals.new, report.totals.updated) == (91, 1)
    with kernel.store.read() as session:
        query = select(Conversation.title).where(Conversation.external_id == "twice")
        assert session.scalars(query).all() == ["Second title"]
