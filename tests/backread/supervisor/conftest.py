import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import wait_until

_START_SECONDS = 60.0  # on a machine that also runs the rest of the suite

# What `backread` does where neither the bundled broker nor one on the PATH can be had.
WITHOUT_BROKER = """
import backread.supervisor.broker
backread.supervisor.broker.find_local_broker = lambda settings: None
from backread.cli import main
main()
"""


@dataclass
class Server:
    """A real `backread up`."""

    process: "subprocess.Popen[bytes]"
    home: Path
    environment: dict[str, str]

    @property
    def output(self) -> str:
        return (self.home / "up.out").read_text(encoding="utf-8")

    @property
    def errors(self) -> str:
        return (self.home / "up.err").read_text(encoding="utf-8")

    def announcement(self) -> dict[str, Any]:
        """What it prints once its first page can be opened."""

        def printed() -> bool:
            assert self.process.poll() is None, self.errors
            return "\n" in self.output

        wait_until(printed, seconds=_START_SECONDS, what="the address")
        announced: dict[str, Any] = json.loads(self.output.splitlines()[0])
        return announced

    def children(self) -> dict[str, int]:
        """Process id of each child, by what it is: `worker --queue interactive` and so on."""
        listed = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="],
            capture_output=True,
            text=True,
            check=True,
        )
        found = {}
        for line in listed.stdout.splitlines():
            pid, parent, command = line.split(None, 2)
            if int(parent) == self.process.pid:
                _, _, arguments = command.partition("-m backread ")
                found[arguments.split(" --p")[0].split(" --c")[0] or "broker"] = int(pid)
        return found

    def wait_for_children(self, *names: str) -> dict[str, int]:
        until = time.monotonic() + _START_SECONDS
        while missing := set(names) - set(children := self.children()):
            assert time.monotonic() < until, (missing, children, self.errors)
            time.sleep(0.1)
        return children

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def run(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        """Another command on the same data folder."""
        return subprocess.run(
            [sys.executable, "-m", "backread", *map(str, arguments)],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )


Up = Callable[..., Server]


@pytest.fixture
def up(home: Path) -> Iterator[Up]:
    """Starts servers on this test's data folder; ends them, however the test ends."""
    environment = {
        "BACKREAD_HOME": str(home),
        "BACKREAD_EMBEDDING_MODEL": "hashing",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": ".",
    }
    started: list[Server] = []

    def start(
        *arguments: str,
        program: tuple[str, ...] = ("-m", "backread"),
        settings: dict[str, str] | None = None,
    ) -> Server:
        with open(home / "up.out", "wb") as out, open(home / "up.err", "wb") as errors:
            process = subprocess.Popen(
                [sys.executable, *program, "up", "--port", "0", "--json", *arguments],
                env=environment | (settings or {}),
                stdout=out,
                stderr=errors,
            )
        started.append(Server(process, home, environment))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.process.terminate()
            try:
                server.process.wait(30)
            except subprocess.TimeoutExpired:
                server.process.kill()
                server.process.wait()


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=20) as response:
        body: bytes = response.read()
        return body


def is_running(pid: int) -> bool:
    """False for a process that has ended, be it collected by its parent or not."""
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return bool(listed.stdout.strip()) and not listed.stdout.strip().startswith("Z")
