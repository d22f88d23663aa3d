"""A child process: started, restarted after a crash, stopped; its output in a log file."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 10.0
_KILLED_WITHIN_SECONDS = 5.0
_STABLE_AFTER_SECONDS = 60.0
_LOG_LIMIT_BYTES = 10 * 1024**2
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """`is_python` children watch the supervisor's pipe; others are tied to it by the kernel
    where it can do that (Linux). `handles` are further file descriptors to pass down."""

    name: str
    command: Sequence[str]
    is_python: bool = True
    handles: tuple[int, ...] = ()


@dataclass
class Child:
    spec: ChildSpec
    environment: Mapping[str, str]
    log: Path
    parent_pipe: int
    process: "subprocess.Popen[bytes] | None" = None
    started_at: float = 0.0
    crashes: int = 0  # in a row, without a stable time between them
    start_at: float | None = None  # when to start again after a crash
    _relayed: int = field(default=0, init=False)

    def start(self) -> None:
        self.start_at = None
        self.started_at = time.monotonic()
        with self._open_log() as output:
            self.process = subprocess.Popen(
                self._command(),
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(self.parent_pipe, *self.spec.handles),
                # A group of its own: Ctrl+C in the terminal reaches the supervisor alone.
                start_new_session=True,
                preexec_fn=None if self.spec.is_python else _die_with_parent,
            )

    def _command(self) -> list[str]:
        if not self.spec.is_python:
            return list(self.spec.command)
        # -P: the folder the person happens to be in is not searched for modules.
        start = [sys.executable, "-P", "-m", "backread"]
        return [*start, *self.spec.command, "--parent-pipe", str(self.parent_pipe)]

    def crashed(self) -> int | None:
        """The exit code if the process has ended since `start()`; plans the next start."""
        if self.process is None or self.process.poll() is None:
            return None
        code = self.process.returncode
        _kill_group(self.process.pid)  # what it forked would work on beside its successor
        self.process = None
        if time.monotonic() - self.started_at > _STABLE_AFTER_SECONDS:
            self.crashes = 0
        pause = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**self.crashes)
        self.crashes += 1
        self.start_at = time.monotonic() + pause
        return code

    def signal(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self) -> None:
        """Ends the process and everything it has forked."""
        if self.process is not None and self.process.poll() is None:
            _kill_group(self.process.pid)
            with suppress(subprocess.TimeoutExpired):  # stuck in the kernel; init collects it
                self.process.wait(_KILLED_WITHIN_SECONDS)

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def _open_log(self) -> BinaryIO:
        self.log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.trim_log()
        output = open(self.log, "ab")  # noqa: SIM115 - the caller closes it
        self._relayed = output.tell()
        return output

    def trim_log(self) -> None:
        """Moves a long log aside. The child goes on writing at the start of the emptied file."""
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT_BYTES:
            shutil.copyfile(self.log, self.log.with_suffix(".log.1"))
            os.truncate(self.log, 0)
            self._relayed = 0

    def new_errors(self) -> list[str]:
        """Lines of the log since the last call that tell of an error."""
        if not self.log.exists():
            return []
        with open(self.log, "rb") as log:
            log.seek(self._relayed)
            text = log.read(1024**2)
        complete = text[: text.rfind(b"\n") + 1]
        self._relayed += len(complete)
        lines = complete.decode("utf-8", "replace").splitlines()
        return [line for line in lines if _is_error(line)]

    def last_lines(self, count: int) -> list[str]:
        if not self.log.exists():
            return []
        with open(self.log, "rb") as log:
            log.seek(max(0, self.log.stat().st_size - 8192))
            return log.read().decode("utf-8", "replace").splitlines()[-count:]


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _is_error(line: str) -> bool:
    return line.startswith(("ERROR", "CRITICAL")) or '"level": "error"' in line


def _die_with_parent() -> None:
    """Asks Linux to stop this process when its parent ends. Runs between fork and exec."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
