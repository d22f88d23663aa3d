"""Brings records together that lie apart in a file and belong to one conversation."""

import tempfile
from collections.abc import Iterable, Iterator

from backread.settings import Settings
from ingest.cutting.base import too_large
from ingest.json_stream import Element

_IN_MEMORY_BYTES = 8 * 1024**2


def grouped(
    records: Iterable[tuple[str, bytes]], wrapper: bytes, end_offset: int, settings: Settings
) -> Iterator[Element]:
    """One element per key, in the order in which the keys first come up: the JSON object
    `{"wrapper": [record, record, …]}`. A record whose key is "" is a conversation by itself.

    The records wait in an unnamed file, so memory holds only where they are.
    """
    settings.uploads_dir.mkdir(parents=True, exist_ok=True)
    places: dict[str, list[tuple[int, int]]] = {}
    with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=str(settings.uploads_dir)) as kept:
        at = 0
        for key, record in records:
            own = places.setdefault(f"k{key}" if key else f"n{len(places)}", [])
            own.append((at, len(record)))
            kept.write(record)
            at += len(record)
        done = 0
        for index, own in enumerate(places.values()):
            size = sum(length for _, length in own)
            done += size
            offset = end_offset * done // max(1, at)
            if size > settings.conversation_max_bytes:
                yield Element(index, offset, b"", too_large(settings))
                continue
            parts = []
            for start, length in own:
                kept.seek(start)
                parts.append(kept.read(length))
            yield Element(index, offset, b'{"%s":[%s]}' % (wrapper, b",".join(parts)))
