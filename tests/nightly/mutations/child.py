"""One process of the mutation run: imports damaged files one after the other and tells of each.

    python -m tests.nightly.mutations.child KIND SEED FIRST COUNT

Prints a JSON line per file. Works in a data folder of its own, which it leaves to be removed.
"""

import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

import ingest.tasks  # noqa: F401 - registers the jobs
from backread.domain import Principal, Scope
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.migrate import upgrade
from backread.store.models import Account
from ingest.accept import RUN_JOB, SourceFile, accept_files
from ingest.report import read_report
from ingest.verify import verify_account
from tests.nightly.mutations.mutating import mutated
from tests.nightly.mutations.originals import ENDINGS, KINDS, Original, originals

_KNOWN_CODES = {"unreadable_import", "limit_exceeded"}
_VERIFIED_EVERY = 50


def damaged_file(kind: str, seed: int, number: int) -> Original:
    """The same for the same arguments."""
    chance = random.Random(f"{seed}:{kind}:{number}")
    others = [each for name in KINDS for each in originals(name) if isinstance(each, bytes)]
    return mutated(chance.choice(originals(kind)), others, chance)


def write_original(content: Original, path: Path) -> None:
    if isinstance(content, bytes):
        path.write_bytes(content)
        return
    path.mkdir()
    for name, body in content.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)


class Importer:
    """A data folder, an account, and what is wrong after each import."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._settings = Settings(home=home, embedding_model="hashing")
        self._kernel = Kernel(self._settings)
        upgrade(self._kernel.store)
        with self._kernel.store.write() as session:
            account = Account(email="ada@example.org", password_hash="unused", role="owner")
            session.add(account)
            session.flush()
            self._principal = Principal(account.id, scopes=frozenset(Scope))

    def run(self, path: Path) -> dict[str, Any]:
        """`outcome` in a word, and `problems`: none when everything is as it should be."""
        started = time.monotonic()
        file = SourceFile(path.name, path, path.stat().st_size if path.is_file() else 0)
        with capture_logs() as logs:
            with self._kernel.store.write() as session:
                import_id = accept_files(session, self._principal, [file], route="cli")
            run_pending(self._kernel, names=[RUN_JOB])
        with self._kernel.store.read() as session:
            report = read_report(session, self._principal, import_id, items_limit=0)
        problems = [
            f"{entry['event']}: {entry.get('error', '')}"
            for entry in logs
            if entry["log_level"] in {"warning", "error", "critical"}
        ]
        outcome: str = report.state
        totals = report.totals
        parts = totals.new + totals.updated + totals.unchanged + totals.skipped + totals.failed
        if parts != totals.found:
            problems.append("the report does not add up")
        if report.state == "failed":
            outcome = report.error.code if report.error is not None else "failed without a reason"
            if outcome not in _KNOWN_CODES or not (report.error and report.error.message):
                problems.append(f"failed with {outcome!r}")
        elif report.state == "readable":
            outcome = "readable in part" if totals.failed or report.warnings else "readable"
        else:
            problems.append(f"ended as {report.state}")
        uploads = self._settings.uploads_dir
        if uploads.exists() and list(uploads.iterdir()):
            problems.append("something stayed in the uploads folder")
        return {"outcome": outcome, "seconds": time.monotonic() - started, "problems": problems}

    def verify(self) -> list[str]:
        return verify_account(self._kernel, self._principal.account_id).problems

    def close(self) -> None:
        self._kernel.close()


@contextmanager
def importer() -> Iterator[tuple[Importer, Path]]:
    """An importer, and a folder for the files to import."""
    with tempfile.TemporaryDirectory(dir=_memory_disk()) as folder:
        home = Path(folder) / "home"
        home.mkdir()
        made = Importer(home)
        try:
            yield made, Path(folder)
        finally:
            made.close()


def _memory_disk() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main() -> None:
    kind, seed, first, count = sys.argv[1], *map(int, sys.argv[2:5])
    with importer() as (made, folder):
        for number in range(first, first + count):
            path = folder / f"{kind}-{number}{ENDINGS[kind]}"
            write_original(damaged_file(kind, seed, number), path)
            result = made.run(path)
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            if number % _VERIFIED_EVERY == 0 or number == first + count - 1:
                result["problems"] += [f"verify: {each}" for each in made.verify()]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            sys.stdout.write(json.dumps(result | {"number": number, "peak_mb": peak}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
