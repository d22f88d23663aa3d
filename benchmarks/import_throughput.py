"""Measures an import: megabytes and messages per second, processor time and peak memory.

    python -m benchmarks.import_throughput --megabytes 10 100
    python -m benchmarks.import_throughput --megabytes 1000 --platform claude_ai --index
    python -m benchmarks.import_throughput --megabytes 300 --cancel

An import has ended when its chats can be browsed and their words found by full text. `--index`
then also puts the words into the search index, as the background does after an import, and says
what that takes. Vectors are left out: `benchmarks.embedding` measures them. `--cancel` calls the
import off when half of it is done, and says how long it takes to end.

The archive is synthetic and the same for the same seed. A large import has two processes, the one
that stores and the one that reads; each one's processor seconds and peak memory are given. A busy
machine disturbs processor seconds less than the clock. Each import has new processes.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import LargeBinary, cast, func, select

import ingest.tasks  # noqa: F401 - registers the jobs
from backread.domain import Principal
from backread.jobs import Progress, run_pending
from backread.kernel import Kernel
from backread.log import configure
from backread.settings import Settings
from backread.store.migrate import upgrade
from backread.store.models import Account, Message
from benchmarks.synthetic_archive import Platform, Written, write_archive
from ingest.accept import RUN_JOB, SourceFile, accept_files
from ingest.controls import cancel_import
from ingest.indexing import index_lexical
from ingest.report import read_report

_MEGABYTE = 1e6
_TEXT_BYTES = func.sum(func.length(cast(Message.text, LargeBinary)))


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds that a piece of work took: on the clock, and of each process's processor time."""

    wall: float
    storing: float
    reading: float


def measure(
    archive: Path, home: Path, platform: Platform, written: Written, *, with_index: bool
) -> dict[str, object]:
    """Imports an archive into a new database and returns the figures."""
    kernel = Kernel(Settings(home=home, database_url="", embedding_model="hashing"))
    try:
        upgrade(kernel.store)
        principal, import_id = _accept(kernel, archive)
        spent = _timed(lambda: run_pending(kernel, names=[RUN_JOB]))
        figures = _figures(kernel, principal, import_id, written)
        cpu = spent.storing + spent.reading
        figures |= {
            "wall_s": round(spent.wall, 2),
            "mb_per_s": round(written.json_bytes / _MEGABYTE / spent.wall, 1),
            "messages_per_s": round(written.messages / spent.wall),
            "cpu_s": {"storing": round(spent.storing, 2), "reading": round(spent.reading, 2)},
            "mb_per_cpu_s": round(written.json_bytes / _MEGABYTE / cpu, 1),
            "peak_rss_mb": _peaks(),
        }
        if with_index:
            spent = _timed(lambda: index_lexical(kernel, principal.account_id))
            index_bytes = sum(each.stat().st_blocks * 512 for each in home.glob("index/**/*"))
            figures |= {
                "index_cpu_s": round(spent.storing, 2),
                "index_mb": round(index_bytes / _MEGABYTE, 1),
                "peak_rss_with_index_mb": _peaks()["storing"],
            }
    finally:
        kernel.close()
    database_bytes = (home / "backread.db").stat().st_size
    return {"platform": platform, **figures, "database_mb": round(database_bytes / _MEGABYTE, 1)}


def measure_cancel(archive: Path, home: Path) -> dict[str, object]:
    """Calls an import off when half of it is done; how long until it has ended."""
    kernel = Kernel(Settings(home=home, database_url="", embedding_model="hashing"))
    half_done = threading.Event()
    asked_at = 0.0

    def look(progress: Progress) -> None:
        if progress.total and progress.done * 2 >= progress.total:
            half_done.set()

    def ask() -> None:
        nonlocal asked_at
        half_done.wait()
        asked_at = time.perf_counter()
        with kernel.store.write() as session:
            cancel_import(session, principal, import_id)

    try:
        upgrade(kernel.store)
        principal, import_id = _accept(kernel, archive)
        asker = threading.Thread(target=ask)
        asker.start()
        run_pending(kernel, names=[RUN_JOB], on_progress=look)
        seconds = time.perf_counter() - asked_at
        half_done.set()
        asker.join()
        with kernel.store.read() as session:
            report = read_report(session, principal, import_id, items_limit=0)
    finally:
        kernel.close()
    return {
        "state": report.state,
        "done": round(report.bytes_done / report.bytes_total, 2),
        "seconds_until_cancelled": round(seconds, 2),
    }


def _accept(kernel: Kernel, archive: Path) -> tuple[Principal, str]:
    with kernel.store.write() as session:
        account = Account(email="bench@example.org", password_hash="unused")
        session.add(account)
        session.flush()
        principal = Principal(account.id)
        source = SourceFile(archive.name, archive, archive.stat().st_size)
        return principal, accept_files(session, principal, [source], route="cli")


def _figures(
    kernel: Kernel, principal: Principal, import_id: str, written: Written
) -> dict[str, object]:
    """What arrived. Ends the program when it is not everything."""
    with kernel.store.read() as session:
        report = read_report(session, principal, import_id, items_limit=0)
        text_bytes = session.scalar(select(_TEXT_BYTES)) or 0
    if report.totals.new != written.conversations:
        raise SystemExit(f"{report.totals.new} of {written.conversations} conversations arrived")
    return {
        "json_mb": round(written.json_bytes / _MEGABYTE, 1),
        "text_mb": round(text_bytes / _MEGABYTE, 1),
        "messages": written.messages,
    }


def _timed(work: Callable[[], object]) -> Spent:
    wall, storing, reading = time.perf_counter(), time.process_time(), _reading_seconds()
    work()
    return Spent(
        time.perf_counter() - wall, time.process_time() - storing, _reading_seconds() - reading
    )


def _reading_seconds() -> float:
    """Of the processes that this one started, once they have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peaks() -> dict[str, int]:
    """Each process's own peak; their sum is the most that both can have had at one time."""
    storing = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    reading = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
    return {"storing": storing, "reading": reading, "sum": storing + reading}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--platform", choices=["chatgpt", "claude_ai"], default="chatgpt")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", action="store_true", help="also put the words into the index")
    parser.add_argument("--cancel", action="store_true", help="call it off half way")
    chosen = parser.parse_args(arguments)
    for megabytes in chosen.megabytes:
        with tempfile.TemporaryDirectory() as name, _new_process() as process:
            folder = Path(name)
            archive = folder / f"{chosen.platform}-{megabytes}.zip"
            written = write_archive(archive, chosen.platform, megabytes * 10**6, seed=chosen.seed)
            if chosen.cancel:
                result = process.submit(measure_cancel, archive, folder / "home")
            else:
                result = process.submit(
                    measure,
                    archive,
                    folder / "home",
                    chosen.platform,
                    written,
                    with_index=chosen.index,
                )
            print(json.dumps(result.result()), flush=True)


def _new_process() -> ProcessPoolExecutor:
    """So that nobody's memory counts but the import's."""
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=spawn, initializer=configure, initargs=("WARNING",))


if __name__ == "__main__":
    main(sys.argv[1:])
