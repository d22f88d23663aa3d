"""Runs a system's driver and reads what its processes took at each step."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Driven:
    """What was found by each way of asking, and processor seconds (user and system).

    `asking` holds them for each way, all questions together; loading what only a first question
    needs is part of `indexing` or of nothing.
    """

    indexing: float = 0.0
    asking: dict[str, float] = field(default_factory=dict)
    ranked: dict[str, dict[str, list[str]]] = field(default_factory=dict)


def drive(command: Sequence[str], environment: Mapping[str, str], log: Path, server: int) -> Driven:
    """Raises SystemExit with the end of the log when the driver fails. `server`: a process whose
    time counts too."""
    with log.open("ab") as errors:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        try:
            driven = _follow(process, server)
        finally:
            for pid in _tree(process.pid):
                _kill(pid)
            process.wait()
    if not driven.ranked:
        raise SystemExit(f"{command[0]} failed:\n{log.read_text(errors='replace')[-3000:]}")
    return driven


def _follow(process: "subprocess.Popen[str]", server: int) -> Driven:
    driven = Driven()
    before = 0.0
    for said in _said(process):
        now = _seconds(process.pid) + _seconds(server)
        if said["at"] == "indexed":
            driven.indexing = now - before
        elif said["at"] == "asked":
            driven.asking[said["way"]] = now - before
            driven.ranked[said["way"]] = said["ranked"]
        before = now
    return driven


def _said(process: "subprocess.Popen[str]") -> Iterator[dict[str, Any]]:
    """Each step that the driver reports; it goes on when the next one is asked for."""
    if process.stdout is None or process.stdin is None:
        raise RuntimeError("The driver was started without pipes.")
    for line in process.stdout:
        yield json.loads(line)
        process.stdin.write("\n")
        process.stdin.flush()


@contextmanager
def embedding_server(command: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Its process id and its address."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        port = process.stdout.readline().strip() if process.stdout else ""
        if not port:
            raise SystemExit("The embedding server did not start.")
        yield process.pid, f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def _seconds(root: int) -> float:
    """Processor seconds of a process and all below it, those of ended children included."""
    stats = _stats()
    ticks = sum(sum(int(each) for each in stats[pid][11:15]) for pid in _below(root, stats))
    return ticks / _TICKS


def _tree(root: int) -> list[int]:
    return _below(root, _stats())


def _below(root: int, stats: Mapping[int, Sequence[str]]) -> list[int]:
    found = [root] if root in stats else []
    for parent in found:
        found += [pid for pid, fields in stats.items() if int(fields[1]) == parent]
    return found


def _stats() -> dict[int, list[str]]:
    """By process id the fields of `/proc/PID/stat` that follow the name (proc(5), from 3 on)."""
    stats = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
            stats[int(entry.name)] = text.rpartition(")")[2].split()
    return stats


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it ended by itself
