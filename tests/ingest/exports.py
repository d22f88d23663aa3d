"""Imports small exports as the command line does."""

from pathlib import Path
from typing import Any

import ingest.tasks  # noqa: F401 - registers the jobs
from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from ingest.accept import RUN_JOB, SourceFile, accept_files
from ingest.report import ImportReport, read_report
from tests.exports import (
    NOON,
    as_json,
    as_zip,
    chatgpt,
    chatgpt_message,
    claude,
    claude_message,
    write,
    zip_bytes,
)

__all__ = [
    "NOON",
    "as_json",
    "as_zip",
    "assert_adds_up",
    "chatgpt",
    "chatgpt_message",
    "claude",
    "claude_message",
    "import_files",
    "queue_import",
    "write",
    "zip_bytes",
]


def queue_import(kernel: Kernel, principal: Principal, *paths: Path, **options: Any) -> str:
    files = [
        SourceFile(path.name, path, path.stat().st_size if path.is_file() else 0) for path in paths
    ]
    with kernel.store.write() as session:
        return accept_files(session, principal, files, **({"route": "cli"} | options))


def import_files(
    kernel: Kernel, principal: Principal, *paths: Path, **options: Any
) -> ImportReport:
    """Imports as the command line does and returns the report, which must add up."""
    import_id = queue_import(kernel, principal, *paths, **options)
    run_pending(kernel, names=[RUN_JOB])
    with kernel.store.read() as session:
        report = read_report(session, principal, import_id)
    assert_adds_up(report)
    return report


def assert_adds_up(report: ImportReport) -> None:
    totals = report.totals
    parts = totals.new + totals.updated + totals.unchanged + totals.skipped + totals.failed
    assert totals.found == parts
    assert report.is_finished
