"""What lies in a watched folder, and what of it is complete and not imported yet."""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.containers.archive import is_candidate

# As browsers, download tools and copying programs call a file that is not complete yet.
_UNFINISHED = (
    ".crdownload",
    ".download",
    ".filepart",
    ".opdownload",
    ".part",
    ".partial",
    ".tmp",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder that lies directly in the watched folder. `version` changes whenever it
    or anything in it does: it is made of sizes, times of change and the right to read."""

    path: Path
    size: int  # bytes; of a folder 0
    version: str


class WatchedFolder:
    """Remembers what it has seen and what is done. Only ever reads the folder.

    An entry is ready when nothing about it has changed for `settle_seconds`. Left out are hidden
    entries, links, empty files, unfinished downloads, and files of kinds that hold no chats.
    """

    def __init__(self, folder: Path, *, settle_seconds: float, done: dict[str, str]) -> None:
        self._folder = folder
        self._settle_seconds = settle_seconds
        self._done = dict(done)  # path -> version
        self._seen: dict[Path, tuple[str, float]] = {}  # version, and since when it is this one

    def ready(self, now: float) -> list[Entry]:
        """Looks at the folder at the time `now`, in seconds of any clock that never goes back.
        Raises OSError when the folder is gone or may not be read."""
        entries = [each for each in _entries(self._folder) if not self._is_done(each)]
        before, self._seen = self._seen, {}
        found = []
        for entry in entries:
            version, since = before.get(entry.path, ("", now))
            since = since if version == entry.version else now
            self._seen[entry.path] = (entry.version, since)
            if now - since >= self._settle_seconds:
                found.append(entry)
        return found

    def seconds_to_wait(self, now: float) -> float | None:
        """Until something may become ready by itself; None when only a change can do that."""
        due = [since + self._settle_seconds - now for _, since in self._seen.values()]
        return max(0.0, min(due)) if due else None

    def done(self, entry: Entry) -> None:
        """The entry, as it is now, is not brought up again."""
        self._done[str(entry.path)] = entry.version
        self._seen.pop(entry.path, None)

    def put_off(self, entry: Entry, now: float) -> None:
        """The entry is brought up again after another `settle_seconds`."""
        self._seen[entry.path] = (entry.version, now)

    def _is_done(self, entry: Entry) -> bool:
        return self._done.get(str(entry.path)) == entry.version


def _entries(folder: Path) -> Iterator[Entry]:
    with os.scandir(folder) as found:
        items = sorted(found, key=lambda item: item.name)
    names = {item.name for item in items}
    for item in items:
        if _is_left_out(item.name) or any(item.name + end in names for end in _UNFINISHED):
            continue
        try:
            status = item.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                version = _version_of_folder(Path(item.path))
                if version:
                    yield Entry(Path(item.path), 0, version)
            elif stat.S_ISREG(status.st_mode) and status.st_size and is_candidate(item.name):
                version = f"{_version(status)}{_access(item.path)}"
                yield Entry(Path(item.path), status.st_size, version)
        except FileNotFoundError:
            continue  # gone between the two looks


def _is_left_out(name: str) -> bool:
    return name.startswith((".", "~")) or name.lower().endswith((*_UNFINISHED, "~"))


def _version(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}"


def _access(path: str | Path) -> str:
    return "" if os.access(path, os.R_OK) else "-locked"


def _version_of_folder(folder: Path) -> str:
    """Of all files in it, at any depth; "" while an unfinished one is among them, or none is
    complete. A folder that may not be read counts as empty."""
    digest = hashlib.sha256()
    count = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(_UNFINISHED):
                return ""
            if _is_left_out(name):
                continue
            path = Path(parent) / name
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                digest.update(os.fsencode(path) + b"\0")
                digest.update(f"{_version(status)}{_access(path)}\0".encode())
                count += 1
    return digest.hexdigest()[:32] if count else ""
