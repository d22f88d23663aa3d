"""Whether the process that holds a lease still lives.

Each process that runs jobs holds a lock on a file of its own in the data folder. The operating
system drops the lock when the process ends, however it ends, so after a crash the leases of the
dead need not be waited for. Leases of processes on other machines run out by time.
"""

import fcntl
import os
from pathlib import Path

from backread.identity import new_id
from backread.settings import Settings

_held: dict[tuple[int, str, Path], tuple[str, int]] = {}
_group = ""


def join_group() -> str:
    """Makes this process, and those that it forks, one worker; returns what their names in leases
    begin with."""
    global _group
    _group = f"{new_id()}-"
    return _group


def _folder(settings: Settings) -> Path:
    return settings.run_dir / "workers"


def worker_name(settings: Settings) -> str:
    """The name of this process in leases; takes its lock on first use, after any fork."""
    key = (os.getpid(), _group, _folder(settings))
    if key not in _held:
        _held[key] = _take_lock(_folder(settings))
    return _held[key][0]


def _take_lock(folder: Path) -> tuple[str, int]:
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        name = f"{_group}{new_id()}"
        handle = os.open(folder / f"{name}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        if _lock(handle):
            return name, handle
        os.close(handle)  # a sweeper looked at the new file in this very moment


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_dead(settings: Settings, worker: str) -> bool:
    """True only when it is certain: the worker ran with this data folder and has ended."""
    return bool(worker) and _is_free(_folder(settings) / f"{worker}.lock")


def _is_free(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return _lock(handle)
    finally:
        os.close(handle)


def forget_dead(settings: Settings, still_named: set[str]) -> None:
    """Removes the lock files of ended processes that no lease names any more."""
    folder = _folder(settings)
    if not folder.is_dir():
        return
    for path in folder.glob("*.lock"):
        if path.stem not in still_named and _is_free(path):
            path.unlink(missing_ok=True)
