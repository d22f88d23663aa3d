"""Kills processes of a running server with SIGKILL while it imports, and then counts.

    .venv/bin/python -m tests.nightly.kill_storm.run --kills 200 --messages 100000

Worker, worker's pool, the process that reads for it, web server, index owner, broker, beat and
the supervisor itself are killed at random moments, one to six in quick succession. After each such
strike the import must go on within 30 seconds without anybody's help. When it has ended, nothing
may be lost and nothing doubled: conversations, messages, passages, vectors and items of the report
are counted against what the archive holds, `backread verify` must find nothing, and a second
import must add nothing. Rounds with new archives follow until the number of kills is reached.
Exits with 0 when all of it held.

`--without-vectors` does not wait for the vectors of each round, nor count them: it is for imports
so large that embedding them takes far longer than importing them.
"""

import argparse
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.synthetic_archive import Platform, Written, write_archive
from tests.nightly.kill_storm.counting import Archive
from tests.nightly.kill_storm.server import VICTIMS, KillableServer
from tests.support import wait_until

_RESUME_SECONDS = 30.0
_END_SECONDS = 900.0
_LONGEST_PAUSE = 2.0
_LONGEST_BREATH = 0.5  # between the kills of one strike
_MOST_AT_ONCE = 6
_BYTES_PER_MESSAGE = 1_900  # of JSON, about
# The supervisor costs a whole start, so it is hit less often than the parts.
_WEIGHTS = {
    "supervisor": 1,
    "worker": 5,
    "reader": 4,
    "index": 3,
    "web": 2,
    "broker": 2,
    "beat": 1,
}


@dataclass
class Tally:
    """What the storm did so far."""

    kills: Counter[str] = field(default_factory=Counter)
    resumed_after: list[float] = field(default_factory=list)
    rounds: int = 0

    @property
    def count(self) -> int:
        return sum(self.kills.values())


class Storm:
    def __init__(
        self, home: Path, *, messages: int, kills: int, seed: int, with_vectors: bool
    ) -> None:
        self._archive = Archive(home)
        self._server = KillableServer(home)
        self._folder = home
        self._messages = messages
        self._kills = kills
        self._with_vectors = with_vectors
        self._random = random.Random(seed)
        self.tally = Tally()

    def run(self) -> None:
        """Raises AssertionError as soon as something does not hold."""
        self._server.start()
        try:
            while self.tally.count < self._kills:
                self._round()
            assert self._server.stop() == 0
            if self._with_vectors:
                self._archive.check_index()
        finally:
            self._server.close()
            self._archive.close()

    def _round(self) -> None:
        self.tally.rounds += 1
        path = self._folder / f"export-{self.tally.rounds}.zip"
        size = self._messages * _BYTES_PER_MESSAGE
        platform: Platform = "chatgpt" if self.tally.rounds % 2 else "claude_ai"
        written = write_archive(path, platform, size, seed=self._random.getrandbits(32))
        self._archive.expect(written)
        import_id = self._archive.queue(path)
        while self.tally.count < self._kills and not self._archive.has_ended(import_id):
            self._strike(import_id)
        wait_until(
            lambda: self._archive.has_ended(import_id), seconds=_END_SECONDS, what="the import"
        )
        self._archive.check_import(import_id, written)
        if self._with_vectors:
            self._strike_while_embedding()
            wait_until(self._archive.is_embedded, seconds=_END_SECONDS, what="the vectors")
        self._archive.check_rows()
        self._check_second_import(path, written)
        checked = self._server.run("verify")
        assert checked["is_whole"], checked
        say(f"round {self.tally.rounds}: {written.messages:,} messages, {self._told()}")

    def _strike(self, import_id: str) -> None:
        time.sleep(self._random.uniform(0, _LONGEST_PAUSE))
        before = self._archive.progress(import_id)
        for _ in range(self._random.randint(1, _MOST_AT_ONCE)):
            time.sleep(self._random.uniform(0, _LONGEST_BREATH))
            self._kill(self._random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0])
            if self._archive.has_ended(import_id):
                break
        started = time.monotonic()
        wait_until(
            lambda: (
                self._archive.progress(import_id) != before or self._archive.has_ended(import_id)
            ),
            seconds=4 * _RESUME_SECONDS,
            what="any progress after a kill",
        )
        self.tally.resumed_after.append(time.monotonic() - started)
        say(f"kill {self.tally.count}: resumed after {self.tally.resumed_after[-1]:.1f} s")

    def _strike_while_embedding(self) -> None:
        for kind in ("worker-background", "index"):
            if not self._archive.is_embedded():
                self._kill(kind)
                time.sleep(self._random.uniform(0, _LONGEST_PAUSE))

    def _kill(self, kind: str) -> None:
        if kind == "reader" and not self._server.readers():
            kind = "worker"  # a small rest is read by the worker itself
        self.tally.kills[kind] += 1
        if kind == "reader":
            for pid in self._server.readers():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return
        if kind == "supervisor":
            self._server.kill_supervisor()
            self._server.start()
            return
        assert kind in VICTIMS
        pids = wait_until(
            lambda: self._server.processes().get(kind, []), seconds=60, what=f"the process {kind}"
        )
        with suppress(ProcessLookupError):  # ended in this moment, after a former kill
            os.kill(self._random.choice(pids), signal.SIGKILL)

    def _check_second_import(self, path: Path, written: Written) -> None:
        again = self._archive.queue(path)
        wait_until(
            lambda: self._archive.has_ended(again), seconds=_END_SECONDS, what="the second import"
        )
        self._archive.check_nothing_new(again, written)
        self._archive.check_rows()

    def _told(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.tally.kills.items()))
        times = self.tally.resumed_after
        return (
            f"{self.tally.count} kills so far ({kinds}); resumed after "
            f"{statistics.median(times):.1f} s (median), {max(times):.1f} s (longest)"
        )


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--messages", type=int, default=20_000, help="in each round's archive")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--without-vectors", action="store_true")
    parser.add_argument("--home", type=Path, help="data folder to use, and keep")
    chosen = parser.parse_args()
    say(f"seed {chosen.seed}")
    with tempfile.TemporaryDirectory() as folder:
        home = chosen.home or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        storm = Storm(
            home,
            messages=chosen.messages,
            kills=chosen.kills,
            seed=chosen.seed,
            with_vectors=not chosen.without_vectors,
        )
        storm.run()
    slow = [seconds for seconds in storm.tally.resumed_after if seconds > _RESUME_SECONDS]
    if slow:
        raise SystemExit(f"{len(slow)} kills took longer than {_RESUME_SECONDS:.0f} s: {slow}")
    say("Nothing lost, nothing doubled.")


if __name__ == "__main__":
    main()
