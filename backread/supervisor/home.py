"""Who serves a data folder. The lock is the operating system's, so it ends with its process."""

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from backread.errors import Conflict
from backread.settings import Settings

_WAIT_SECONDS = 1.0  # somebody who only looks holds the lock for a moment


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What other commands need to know about the running server."""

    pid: int
    url: str
    broker_url: str


class HomeLock:
    """Held by the supervisor for its whole life."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._handle: int | None = None

    def acquire(self) -> None:
        """Raises Conflict when another server has the data folder."""
        run_dir = self._settings.run_dir
        run_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(run_dir / "server.lock", os.O_CREAT | os.O_RDWR, 0o600)
        if not _lock_within(handle, _WAIT_SECONDS):
            os.close(handle)
            raise _already_running(self._settings)
        self._handle = handle
        _info_path(self._settings).unlink(missing_ok=True)

    def publish(self, info: ServerInfo) -> None:
        path = _info_path(self._settings)
        draft = path.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(asdict(info)), encoding="utf-8")
        draft.replace(path)

    def release(self) -> None:
        if self._handle is not None:
            _info_path(self._settings).unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None


def running_server(settings: Settings) -> ServerInfo | None:
    """The server that has this data folder now, or None. A file that a killed server left behind
    does not count."""
    try:
        handle = os.open(settings.run_dir / "server.lock", os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        if _try(handle, fcntl.LOCK_SH):
            return None
    finally:
        os.close(handle)
    return _read_info(settings)


def _read_info(settings: Settings) -> ServerInfo | None:
    try:
        return ServerInfo(**json.loads(_info_path(settings).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def _info_path(settings: Settings) -> Path:
    return settings.run_dir / "server.json"


def _try(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_within(handle: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not _try(handle, fcntl.LOCK_EX):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def _already_running(settings: Settings) -> Conflict:
    info = _read_info(settings)
    where = f" as process {info.pid} at {info.url}" if info else ""
    return Conflict(
        f"Backread already runs{where}, with the data folder {settings.home}.",
        hint="Open that address, or stop that process first. To run a second server, "
        "give it another data folder with BACKREAD_HOME and another --port.",
    )
