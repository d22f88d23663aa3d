"""One readable text or database inside what was chosen."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Source:
    """One file's content. `chunks` reads it from the start, as often as it is called."""

    name: str
    base_name: str
    size: int
    chunks: Callable[[], Iterator[bytes]]
    # Of a database: the log of what was written last, and a value that changes with either.
    log: Callable[[], Iterator[bytes]] | None = None
    stamp: Callable[[], object] = lambda: None

    def head(self) -> bytes:
        """The first chunk: some hundred kilobytes, or all of a small file."""
        return next(iter(self.chunks()), b"")


def checked(source: Source, check: Callable[[], None]) -> Source:
    """The source, which calls `check` before each chunk; it may raise to end the reading."""

    def chunks() -> Iterator[bytes]:
        for chunk in source.chunks():
            check()
            yield chunk

    return replace(source, chunks=chunks)
