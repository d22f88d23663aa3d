"""Waiting for background jobs: run here when no server does it, followed in the database when one
does; with a bar on a terminal either way."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from backread.cli.output import note
from backread.errors import Unavailable

if TYPE_CHECKING:
    from backread.domain import Principal
    from backread.jobs import Progress
    from backread.kernel import Kernel
    from ingest.report import ImportReport

_POLL_SECONDS = 0.25
_RETRY_PATIENCE_SECONDS = 60.0
_INTERRUPTED = 130

Advance = Callable[[int, int], None]


def follow_import(
    kernel: "Kernel", principal: "Principal", import_id: str, *, quiet: bool
) -> "ImportReport":
    """The report of the import once it has ended or was paused. Raises Unavailable when it cannot
    go on now."""
    with _bar("Importing", quiet=quiet, is_bytes=True) as advance:
        if _has_server(kernel):
            return _watch_import(kernel, principal, import_id, advance)
        return _run_import(kernel, principal, import_id, advance)


def _watch_import(
    kernel: "Kernel", principal: "Principal", import_id: str, advance: Advance
) -> "ImportReport":
    while True:
        report = _report(kernel, principal, import_id)
        advance(report.bytes_done, report.bytes_total)
        if report.is_finished or report.state == "paused":
            return report
        if not _has_server(kernel):
            raise Unavailable(
                "The server stopped before the import had ended.",
                hint="Nothing is lost: it goes on when the server runs again (backread up).",
            )
        time.sleep(_POLL_SECONDS)


def _run_import(
    kernel: "Kernel", principal: "Principal", import_id: str, advance: Advance
) -> "ImportReport":
    from backread.jobs import run_pending
    from ingest.accept import RUN_JOB

    patience = time.monotonic() + _RETRY_PATIENCE_SECONDS
    while True:
        with _ctrl_c() as stopping:
            ran = run_pending(
                kernel,
                names=[RUN_JOB],
                on_progress=lambda progress: advance(progress.done, progress.total),
                stopping=stopping,
            )
        report = _report(kernel, principal, import_id)
        if report.is_finished or report.state == "paused":
            return report
        if stopping.is_set():
            note("Stopped. What was read is stored; the rest follows when you import again.")
            raise typer.Exit(_INTERRUPTED)
        if ran:
            patience = time.monotonic() + _RETRY_PATIENCE_SECONDS
        if time.monotonic() > patience:
            raise Unavailable(
                f"The import cannot go on now. {_job_error(kernel, import_id)}".strip(),
                hint="Nothing is lost: run `backread up`, or import again later.",
            )
        time.sleep(_POLL_SECONDS)


def count_without_vectors(kernel: "Kernel", principal: "Principal") -> int:
    """Passages that cannot be found by meaning yet."""
    from backread.store.repositories.indexed import PASSAGES, count_without_vector

    dense = kernel.dense_signature
    with kernel.store.read() as session:
        return count_without_vector(session, PASSAGES, principal.account_id, dense)


def follow_embedding(kernel: "Kernel", principal: "Principal", *, quiet: bool) -> None:
    """Returns when every passage of the account has its vector, or when Ctrl+C was pressed."""
    waiting = count_without_vectors(kernel, principal)
    with _bar("Vectors", quiet=quiet) as advance:
        if _has_server(kernel):
            _watch_embedding(kernel, principal, waiting, advance)
            return
        _run_embedding(kernel, advance)


def _watch_embedding(
    kernel: "Kernel", principal: "Principal", waiting: int, advance: Advance
) -> None:
    while (left := count_without_vectors(kernel, principal)) and _has_server(kernel):
        advance(max(0, waiting - left), waiting)
        time.sleep(_POLL_SECONDS)


def _run_embedding(kernel: "Kernel", advance: Advance) -> None:
    from backread.indexing import embed_job
    from backread.store.repositories.indexed import KINDS, PASSAGES

    names = [embed_job(collection) for collection in KINDS]
    _run_jobs(kernel, names, embed_job(PASSAGES.collection), advance)


def run_here(
    kernel: "Kernel", names: Sequence[str], *, title: str, shown: str, quiet: bool
) -> bool:
    """Runs the waiting jobs of these names, with a bar for those called `shown`. False when
    Ctrl+C was pressed."""
    with _bar(title, quiet=quiet) as advance:
        return _run_jobs(kernel, names, shown, advance)


def _run_jobs(kernel: "Kernel", names: Sequence[str], shown: str, advance: Advance) -> bool:
    from backread.cli.job_modules import load_jobs
    from backread.jobs import run_pending

    load_jobs()

    def show(progress: "Progress") -> None:
        if progress.name == shown:
            advance(progress.done, progress.total)

    with _ctrl_c() as stopping:
        run_pending(kernel, names=names, on_progress=show, stopping=stopping)
        return not stopping.is_set()


def _has_server(kernel: "Kernel") -> bool:
    from backread.supervisor.home import running_server

    return running_server(kernel.settings) is not None


def _report(kernel: "Kernel", principal: "Principal", import_id: str) -> "ImportReport":
    from ingest.report import read_report

    with kernel.store.read() as session:
        return read_report(session, principal, import_id, items_limit=0)


def _job_error(kernel: "Kernel", import_id: str) -> str:
    from backread.store.repositories.jobs import last_with_key
    from ingest.accept import job_key

    with kernel.store.read() as session:
        job = last_with_key(session, job_key(import_id))
    return job.error if job is not None else ""


@contextmanager
def _ctrl_c() -> Iterator[threading.Event]:
    """An event that the first Ctrl+C sets, so that what runs can end in order; the second one
    interrupts at once."""
    pressed = threading.Event()
    former = signal.getsignal(signal.SIGINT)

    def press(_number: int, _frame: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, former)

    signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, former)


@contextmanager
def _bar(title: str, *, quiet: bool, is_bytes: bool = False) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    amount = DownloadColumn() if is_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=hidden, transient=True) as progress:
        task = progress.add_task(title, total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total or None)

        yield advance
