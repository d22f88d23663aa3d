"""One readable text or database inside what was chosen."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """One file's content. `chunks` reads it from the start, as often as it is called."""

    name: str
    base_name: str
    size: int
    chunks: Callable[[], Iterator[bytes]]

    def head(self) -> bytes:
        """The first chunk: some hundred kilobytes, or all of a small file."""
        return next(iter(self.chunks()), b"")
