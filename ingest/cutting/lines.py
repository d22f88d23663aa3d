"""Sessions of coding agents and role-play tools: one conversation, an event or message a line."""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.importers import importer_for
from ingest.importers.envelopes import LINES_KEY, UNREAD_KEY
from ingest.json_stream import MAX_DEPTH, Element, load, split

_LINES_LOOKED_AT = 60
_LOOKED_AT_BYTES = 4 * 1024**2
_UNREAD_CHARS = 2000
_STRAY = b" \t\r\n\x00\x1e\xef\xbb\xbf"


class SessionLinesCutter:
    """Lines that are a conversation together and none alone. A cut or broken line costs itself
    only. Guarantees one element per source."""

    def claims(self, source: Source, head: bytes) -> bool:
        if not head.lstrip(_STRAY).startswith(b"{"):
            return False
        values = _first_values(source)
        if not values or importer_for(values[0]) is not None:
            return False
        return importer_for({LINES_KEY: values}) is not None

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        most = settings.conversation_max_bytes
        parts: list[bytes] = []
        unread: list[str] = []
        size = 0
        for line in lines_of(source.chunks(), most):
            if is_sound(line):
                parts.append(line)
                size += len(line) + 1
            else:
                unread.append(line[:_UNREAD_CHARS].decode("utf-8", "replace"))
                size += _UNREAD_CHARS
            if size > most:
                yield Element(0, source.size, b"", too_large(settings))
                return
        body = b'{"%s":[%s]' % (LINES_KEY.encode(), b",".join(parts))
        if unread:
            body += b',"%s":%s' % (UNREAD_KEY.encode(), orjson.dumps(unread))
        yield Element(0, source.size, body + b"}")


SESSION_LINES = SessionLinesCutter()


def lines_of(chunks: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Each line without blanks, NULs and BOM around it; blank ones are left out. One longer than
    `most` bytes comes as its first `most` + 1 bytes."""
    pending: list[bytes] = []
    size = 0
    for chunk in chunks:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            piece = chunk[start:end]
            line = b"".join((*pending, piece))[: most + 1].strip(_STRAY)
            pending, size, start = [], 0, end + 1
            if line:
                yield line
        if size <= most and start < len(chunk):
            pending.append(chunk[start:])
            size += len(chunk) - start
    rest = b"".join(pending)[: most + 1].strip(_STRAY)
    if rest:
        yield rest


def is_sound(line: bytes) -> bool:
    """Whether the line is one JSON value that is not nested too deep to be parsed again."""
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH:
        elements = list(split([line], len(line)))
        if len(elements) != 1 or elements[0].problem:
            return False
    try:
        load(line)
    except ValueError:
        return False
    return True


def _first_values(source: Source) -> list[Any]:
    """The first lines' values; none when the first line is no JSON object."""
    values: list[Any] = []
    size = 0
    for line in lines_of(_first_bytes(source), _LOOKED_AT_BYTES):
        size += len(line)
        if is_sound(line):
            values.append(load(line))
        elif not values:
            return []
        if len(values) >= _LINES_LOOKED_AT:
            break
    return values if values and isinstance(values[0], dict) else []


def _first_bytes(source: Source) -> Iterator[bytes]:
    size = 0
    for chunk in source.chunks():
        yield chunk
        size += len(chunk)
        if size >= _LOOKED_AT_BYTES:
            return
