"""Kills processes of a running server with SIGKILL while it works a backlog of jobs off, and then
counts.

    .venv/bin/python -m tests.nightly.kill_backlog.run --kills 200 --tasks 20000

Workers and their pools, the web server, the index owner, the broker, beat and the supervisor are
killed at random moments. Whatever is killed, jobs must go on to end within two minutes. When the
backlog is worked off, every job must have ended as done, each conversation, message, passage and
vector must be there and there once, and `backread verify` must find nothing. Exits with 0 when all
of it held.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tests.nightly.kill_backlog.backlog import Backlog
from tests.nightly.kill_storm.server import VICTIMS, KillableServer
from tests.support import wait_until

_STALL_SECONDS = 120.0
_END_SECONDS = 3 * 3600.0
_TOLD_EVERY = 20
_WEIGHTS = {
    "worker": 6,
    "worker-background": 6,
    "index": 2,
    "web": 3,
    "broker": 2,
    "beat": 1,
    "supervisor": 1,
}


class Storm:
    def __init__(
        self, home: Path, *, tasks: int, accounts: int, kills: int, pause: float, seed: int
    ) -> None:
        self._server = KillableServer(home)
        self._server.start()  # makes the database
        assert self._server.stop() == 0
        self._backlog = Backlog(home, tasks=tasks, accounts=accounts, seed=seed)
        self._kills = kills
        self._pause = pause
        self._random = random.Random(seed)
        self._killed: Counter[str] = Counter()

    def run(self) -> None:
        """Raises AssertionError as soon as something does not hold."""
        self._backlog.make()
        began = time.monotonic()
        self._server.start()
        try:
            while self._killed.total() < self._kills and not self._backlog.is_worked_off():
                self._strike()
            say(f"all kills done after {time.monotonic() - began:.0f} s: {self._told()}")
            wait_until(self._backlog.is_worked_off, seconds=_END_SECONDS, what="the backlog's end")
            say(f"worked off after {time.monotonic() - began:.0f} s")
            checked = self._server.run("verify")
            assert checked["is_whole"], checked
            assert self._server.stop() == 0
            self._backlog.check()
        finally:
            self._server.close()
            self._backlog.close()
        assert self._killed.total() >= self._kills, "the backlog was too small for the kills"

    def _strike(self) -> None:
        time.sleep(self._random.uniform(0.2, self._pause))
        before = self._backlog.ended()
        self._kill(self._random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0])
        if self._killed.total() % _TOLD_EVERY == 0:
            say(self._told())
            # Now and then it must be seen to get on; between these, kills follow upon kills.
            wait_until(
                lambda: self._backlog.ended() > before or self._backlog.is_worked_off(),
                seconds=_STALL_SECONDS,
                what="any job's end after a kill",
            )

    def _kill(self, kind: str) -> None:
        self._killed[kind] += 1
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

    def _told(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self._killed.items()))
        states = ", ".join(f"{count:,} {state}" for state, count in self._backlog.states().items())
        return f"{self._killed.total()} kills ({kinds}); jobs: {states}"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--accounts", type=int, default=200)
    parser.add_argument("--pause", type=float, default=3.0, help="longest seconds between kills")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    chosen = parser.parse_args()
    say(f"seed {chosen.seed}")
    with tempfile.TemporaryDirectory() as folder:
        Storm(
            Path(folder),
            tasks=chosen.tasks,
            accounts=chosen.accounts,
            kills=chosen.kills,
            pause=chosen.pause,
            seed=chosen.seed,
        ).run()
    say("Nothing lost, nothing doubled.")


if __name__ == "__main__":
    main()
