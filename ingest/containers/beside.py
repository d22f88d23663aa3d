"""Files that belong to a chosen one without being sources themselves: the log of a database."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from ingest.containers.source import Source
from ingest.json_stream import CHUNK_BYTES

LOG_ENDING: Final = "-wal"
_DATABASE = b"SQLite format 3\x00"


def with_log(source: Source, path: Path, log: Path | None = None) -> Source:
    """The source; of an SQLite database that is in use together with its write-ahead log, which
    may hold what was written last (https://www.sqlite.org/walformat.html). `log` is where an
    uploaded one lies; others lie beside the database."""
    log = log or path.with_name(f"{path.name}{LOG_ENDING}")
    if not source.head().startswith(_DATABASE) or log.is_symlink() or not log.is_file():
        return source
    return replace(source, log=lambda: _chunks(log), stamp=lambda: (_stamp(path), _stamp(log)))


def _chunks(path: Path) -> Iterator[bytes]:
    """Nothing once the log is gone: then its content has moved into the database."""
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk
    except FileNotFoundError:
        return


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
