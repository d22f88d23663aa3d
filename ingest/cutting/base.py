"""What a cutter is: it takes a source apart into the raw form of one conversation after another.

Most exports are lists of JSON objects, and each object is a conversation; `ingest.json_stream`
cuts those. Where a file has another form (one session as lines, a table, a page, a database), a
cutter brings each conversation of it into one JSON object, which is then captured, recognised
and parsed like any other. The object holds what the file held, under a key of
`ingest.importers.envelopes`.
"""

from collections.abc import Iterator
from typing import Protocol

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.json_stream import Element


class Cutter(Protocol):
    def claims(self, source: Source, head: bytes) -> bool:
        """Whether this cutter is the one for the source; `head` is its first chunk. Decided by
        structure, never by a name."""
        ...

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        """The same elements in the same order on every call; memory stays at one of them."""
        ...


def too_large(settings: Settings) -> str:
    """The problem of a conversation over the limit, in words."""
    megabytes = settings.conversation_max_bytes / 1024**2
    return f"It is larger than {megabytes:.0f} MB, the most one conversation may have."
