"""A real `backread up` whose processes can be found and killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support import wait_until

_START_SECONDS = 120.0
_STOP_SECONDS = 60.0

VICTIMS: Mapping[str, str] = {
    "worker": "worker --queue interactive",
    "worker-background": "worker --queue background",
    "index": "index-owner",
    "web": "serve",
    "beat": "beat",
    "broker": "unixsocket",
}


class KillableServer:
    """Starts it, kills parts of it or all of it, and starts it again."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._starts = 0
        self._process: subprocess.Popen[bytes] | None = None
        self.environment = {
            **os.environ,
            "BACKREAD_HOME": str(home),
            "BACKREAD_EMBEDDING_MODEL": "hashing",
        }

    def start(self) -> None:
        """Returns when the first page can be opened."""
        self._starts += 1
        output = self._home / f"up-{self._starts}.out"
        with open(output, "wb") as out, open(output.with_suffix(".err"), "wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "backread", "up", "--port", "0", "--json"],
                env=self.environment,
                stdout=out,
                stderr=errors,
            )
        wait_until(
            lambda: b"\n" in output.read_bytes(), seconds=_START_SECONDS, what="the first page"
        )

    @property
    def origin(self) -> str:
        """Where the latest start serves, without a slash at the end."""
        first = (self._home / f"up-{self._starts}.out").read_text("utf-8").splitlines()[0]
        return str(json.loads(first)["url"]).rstrip("/")

    def stop(self) -> int:
        """The exit code after an orderly end."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(_STOP_SECONDS)

    def kill_supervisor(self) -> None:
        """Everything under it must end by itself before this returns."""
        assert self._process is not None
        children = [pid for pids in self.processes().values() for pid in pids]
        self._process.kill()
        self._process.wait()
        wait_until(
            lambda: not any(_is_running(pid) for pid in children),
            seconds=30,
            what="the end of the killed supervisor's children",
        )

    def close(self) -> None:
        """Leaves nothing running, whatever happened before."""
        if self._process is not None and self._process.poll() is None:
            self.kill_supervisor()

    def processes(self) -> dict[str, list[int]]:
        """Process ids by kind of victim; a worker's own comes before those of its pool."""
        assert self._process is not None
        table = _process_table()
        found: dict[str, list[int]] = {}
        for pid, (parent, command) in table.items():
            for kind, words in VICTIMS.items():
                if parent == self._process.pid and words in command:
                    pool = [each for each, (above, _) in table.items() if above == pid]
                    found[kind] = [pid, *pool]
        return found

    def readers(self) -> list[int]:
        """The processes that read for an import, below the pool of a worker."""
        table = _process_table()
        pools = {pid for pids in self.processes().values() for pid in pids}
        return [
            pid
            for pid, (parent, command) in table.items()
            if parent in pools and "reading_ahead" in command
        ]

    def run(self, *arguments: str) -> Any:
        """What a command on the same data folder prints as JSON."""
        done = subprocess.run(
            [sys.executable, "-m", "backread", *arguments, "--json"],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


def _process_table() -> dict[int, tuple[int, str]]:
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = (line.split(None, 2) for line in listed.stdout.splitlines())
    return {int(row[0]): (int(row[1]), row[2]) for row in rows if len(row) == 3}


def _is_running(pid: int) -> bool:
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return bool(listed.stdout.strip()) and not listed.stdout.strip().startswith("Z")
