"""kill -9 in the middle of an import: nothing lost, nothing doubled, the report adds up."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import func, select

from backread.domain import Principal
from backread.jobs import JobInterrupted, Progress, run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Capture, Conversation, Import, ImportItem, Message
from benchmarks.synthetic_archive import write_archive
from ingest.accept import RUN_JOB
from ingest.indexing import EMBED_PASSAGES
from ingest.report import read_report
from ingest.verify import verify_account
from tests.ingest.exports import as_zip, assert_adds_up, claude, queue_import
from tests.support import wait_until, waiting_jobs

_ARCHIVE_BYTES = 10_000_000
_ROOT = Path(__file__).parents[2]


def _start(settings: Settings) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        str(_ROOT / "tests" / "ingest" / "import_process.py"),
        str(settings.home),
        settings.database_url,
    ]
    environment = os.environ | {"PYTHONPATH": str(_ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


def _stored(kernel: Kernel) -> int:
    with kernel.store.read() as session:
        return session.scalar(select(func.sum(Import.found))) or 0


def test_an_import_that_is_killed_again_and_again_ends_complete(
    kernel: Kernel, principal: Principal, settings: Settings, tmp_path: Path
) -> None:
    written = write_archive(tmp_path / "export.zip", "chatgpt", _ARCHIVE_BYTES)
    import_id = queue_import(kernel, principal, tmp_path / "export.zip")
    kills = 0
    for _ in range(2):
        before = _stored(kernel)
        process = _start(settings)
        try:
            wait_until(
                lambda before=before, process=process: (  # type: ignore[misc]
                    _stored(kernel) > before or process.poll() is not None
                ),
                seconds=60,
                what="a further batch",
            )
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
        finally:
            process.kill()
            process.wait(timeout=20)
    assert kills
    process = _start(settings)
    try:
        assert process.wait(timeout=90) == 0
    finally:
        process.kill()
        process.wait(timeout=20)
    _assert_complete(kernel, principal, import_id, written.conversations, written.messages)


def _assert_complete(
    kernel: Kernel, principal: Principal, import_id: str, conversations: int, messages: int
) -> None:
    with kernel.store.read() as session:
        report = read_report(session, principal, import_id)
        counts = {
            table: session.scalar(select(func.count()).select_from(table))
            for table in (Capture, Conversation, Message, ImportItem)
        }
        waiting = waiting_jobs(session, EMBED_PASSAGES)
    assert_adds_up(report)
    assert report.state == "readable"
    assert (report.totals.new, report.totals.found) == (conversations, conversations)
    assert report.messages_new == messages
    assert counts == {
        Capture: conversations,
        Conversation: conversations,
        Message: messages,
        ImportItem: conversations,
    }
    assert waiting  # what was stored is to be indexed, too
    assert verify_account(kernel, principal.account_id).problems == []


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_every_batch_border_is_a_place_to_resume_at(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    """Stops at each report of progress in turn, as a shutdown does, and goes on."""
    raw = [claude(f"c{n}") for n in range(900)]
    import_id = queue_import(kernel, principal, as_zip({"c.json": raw}, tmp_path / "c.zip"))
    stops = 0

    def stop(progress: Progress) -> None:
        nonlocal stops
        stops += 1
        if stops % 3 == 0:
            raise JobInterrupted

    assert run_pending(kernel, names=[RUN_JOB], on_progress=stop) >= 3
    _assert_complete(kernel, principal, import_id, 900, 1800)
