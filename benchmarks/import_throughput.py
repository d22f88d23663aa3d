"""Measures an import: messages and megabytes per second, and the process's peak memory.

    python -m benchmarks.import_throughput --megabytes 10 100
    python -m benchmarks.import_throughput --megabytes 2000 --platform claude_ai --no-index

The archive is synthetic and the same for the same seed. CPU seconds are those of this process, so
a busy machine disturbs them less than the wall clock. `--no-index` leaves the BM25 index out: then
the figure is for chats that can be browsed and found by exact words.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import ingest.tasks  # noqa: F401 - registers the jobs
from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.log import configure
from backread.settings import Settings
from backread.store.migrate import upgrade
from backread.store.models import Account
from benchmarks.synthetic_archive import Platform, write_archive
from ingest.accept import RUN_JOB, SourceFile, accept_files
from ingest.report import read_report


def measure(folder: Path, megabytes: int, platform: Platform, seed: int) -> dict[str, object]:
    """Imports one archive into a new database and returns the figures."""
    archive = folder / f"{platform}-{megabytes}.zip"
    written = write_archive(archive, platform, megabytes * 10**6, seed=seed)
    home = folder / f"home-{platform}-{megabytes}"
    kernel = Kernel(Settings(home=home, database_url="", embedding_model="hashing"))
    upgrade(kernel.store)
    with kernel.store.write() as session:
        account = Account(email="bench@example.org", password_hash="unused")
        session.add(account)
        session.flush()
        principal = Principal(account.id)
        source = SourceFile(archive.name, archive, archive.stat().st_size)
        import_id = accept_files(session, principal, [source], route="cli")
    wall, cpu = time.perf_counter(), time.process_time()
    run_pending(kernel, names=[RUN_JOB])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    with kernel.store.read() as session:
        report = read_report(session, principal, import_id, items_limit=0)
    kernel.close()
    if report.totals.new != written.conversations:
        raise SystemExit(f"{report.totals.new} of {written.conversations} conversations arrived")
    return {
        "platform": platform,
        "json_mb": round(written.json_bytes / 1e6, 1),
        "messages": written.messages,
        "wall_s": round(wall, 2),
        "cpu_s": round(cpu, 2),
        "messages_per_cpu_s": round(written.messages / cpu),
        "mb_per_cpu_s": round(written.json_bytes / 1e6 / cpu, 1),
        "database_mb": round((home / "backread.db").stat().st_size / 1e6, 1),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--platform", choices=["chatgpt", "claude_ai"], default="chatgpt")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-index", action="store_true")
    chosen = parser.parse_args(arguments)
    configure("WARNING")
    with ExitStack() as stack:
        if chosen.no_index:
            stack.enter_context(mock.patch("ingest.run.index_lexical", return_value=0))
        for megabytes in chosen.megabytes:
            with tempfile.TemporaryDirectory() as folder:
                figures = measure(Path(folder), megabytes, chosen.platform, chosen.seed)
            print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
