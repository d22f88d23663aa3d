"""Measures an import: messages and megabytes per second, and the process's peak memory.

    python -m benchmarks.import_throughput --megabytes 10 100
    python -m benchmarks.import_throughput --megabytes 1000 --platform claude_ai --index

An import has ended when its chats can be browsed and their words found by full text. `--index`
then also puts the words into the search index, as the background does after an import, and says
what that takes. Vectors are left out: `benchmarks.embedding` measures them.

The archive is synthetic and the same for the same seed. CPU seconds are those of this process, so
a busy machine disturbs them less than the wall clock.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import LargeBinary, cast, func, select

import ingest.tasks  # noqa: F401 - registers the jobs
from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.log import configure
from backread.settings import Settings
from backread.store.migrate import upgrade
from backread.store.models import Account, Message
from benchmarks.synthetic_archive import Platform, Written, write_archive
from ingest.accept import RUN_JOB, SourceFile, accept_files
from ingest.indexing import index_lexical
from ingest.report import read_report

_MEGABYTE = 1e6
_TEXT_BYTES = func.sum(func.length(cast(Message.text, LargeBinary)))


def measure(
    folder: Path, megabytes: int, platform: Platform, seed: int, *, with_index: bool
) -> dict[str, object]:
    """Imports one archive into a new database and returns the figures."""
    archive = folder / f"{platform}-{megabytes}.zip"
    written = write_archive(archive, platform, megabytes * 10**6, seed=seed)
    home = folder / f"home-{platform}-{megabytes}"
    kernel = Kernel(Settings(home=home, database_url="", embedding_model="hashing"))
    try:
        upgrade(kernel.store)
        principal, import_id = _accept(kernel, archive)
        peak_before = _peak_megabytes()
        cpu, wall = _timed(lambda: run_pending(kernel, names=[RUN_JOB]))
        figures = _figures(kernel, principal, import_id, written)
        figures |= {
            "wall_s": round(wall, 2),
            "cpu_s": round(cpu, 2),
            "messages_per_cpu_s": round(written.messages / cpu),
            "mb_per_cpu_s": round(written.json_bytes / _MEGABYTE / cpu, 1),
            "peak_rss_before_mb": peak_before,
            "peak_rss_mb": _peak_megabytes(),
        }
        if with_index:
            cpu, _ = _timed(lambda: index_lexical(kernel, principal.account_id))
            index_bytes = sum(each.stat().st_blocks * 512 for each in home.glob("index/**/*"))
            figures |= {
                "index_cpu_s": round(cpu, 2),
                "index_mb": round(index_bytes / _MEGABYTE, 1),
                "peak_rss_with_index_mb": _peak_megabytes(),
            }
    finally:
        kernel.close()
    database_bytes = (home / "backread.db").stat().st_size
    return {"platform": platform, **figures, "database_mb": round(database_bytes / _MEGABYTE, 1)}


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


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def _peak_megabytes() -> int:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--platform", choices=["chatgpt", "claude_ai"], default="chatgpt")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", action="store_true", help="also put the words into the index")
    chosen = parser.parse_args(arguments)
    configure("WARNING")
    for megabytes in chosen.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            figures = measure(
                Path(folder), megabytes, chosen.platform, chosen.seed, with_index=chosen.index
            )
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
