"""Backread's own archive: each line is a record, and a capture in it comes out as the raw bytes
that it was taken from."""

from collections.abc import Iterator
from datetime import datetime

from backread.identity import content_hash
from backread.settings import Settings
from backread.store.base import utcnow
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.importers.base import text_in, time_in
from ingest.json_stream import Element, load, split
from ingest.own_archive.form import CAPTURE, COMPANION, KIND, LINE_START, body_of

_BLANK = b" \t\r\n\xef\xbb\xbf"
_START_BYTES = 200
_ENVELOPE_BYTES = 64 * 1024  # what may stand around a body, and what escapes may add at least


class OwnArchiveCutter:
    """Captures come in the order in which they were made, so that a conversation's history is
    built up anew as it was."""

    def claims(self, source: Source, head: bytes) -> bool:
        return bool(LINE_START.match(head.lstrip(_BLANK)[:_START_BYTES]))

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        # Every quote and backslash in a body takes one byte more inside a line.
        most = 2 * settings.conversation_max_bytes + _ENVELOPE_BYTES
        for element in split(source.chunks(), most):
            yield element if element.problem else _taken_out(element, settings)


OWN_ARCHIVE = OwnArchiveCutter()


def _taken_out(element: Element, settings: Settings) -> Element:
    index, end = element.index, element.end_offset
    try:
        record = load(element.body)
    except ValueError as error:
        return Element(index, end, b"", str(error))
    if not isinstance(record, dict) or record.get(KIND) not in (CAPTURE, COMPANION):
        return Element(index, end, element.body, is_record=True)
    body = body_of(record)
    if body is None:
        return Element(index, end, b"", "It holds no raw data.")
    if len(body) > settings.conversation_max_bytes:
        return Element(index, end, b"", too_large(settings))
    if content_hash(body) != record.get("sha256"):
        return Element(index, end, b"", "Its raw data is damaged: the checksum is another.")
    return Element(
        index,
        end,
        body,
        importer=text_in(record.get("importer")),
        captured_at=_past(record.get("captured_at")),
    )


def _past(value: object) -> datetime:
    """When it was captured; now for a time that is missing or lies ahead."""
    now = utcnow()
    return min(time_in(value) or now, now)
