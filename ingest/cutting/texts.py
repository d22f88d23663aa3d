"""A text that is one conversation, as exporters write Markdown."""

from collections.abc import Iterator

import orjson

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.importers import importer_for
from ingest.importers.envelopes import TEXT_KEY
from ingest.json_stream import Element

_LOOKED_AT_BYTES = 4 * 1024**2
_NO_TEXT = (b"{", b"[", b"<")


class TextCutter:
    def claims(self, source: Source, head: bytes) -> bool:
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not start or start.startswith(_NO_TEXT) or b"\x00" in head:
            return False
        if importer_for({TEXT_KEY: _decoded(head)}) is not None:
            return True
        # The first message alone may be longer than the first chunk.
        seen = _beginning(source) if len(head) < source.size else head
        return len(seen) > len(head) and importer_for({TEXT_KEY: _decoded(seen)}) is not None

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        body = bytearray()
        for chunk in source.chunks():
            body += chunk
            if len(body) > settings.conversation_max_bytes:
                yield Element(0, source.size, b"", too_large(settings))
                return
        yield Element(0, source.size, orjson.dumps({TEXT_KEY: _decoded(bytes(body))}))


TEXT = TextCutter()


def _beginning(source: Source) -> bytes:
    seen = bytearray()
    for chunk in source.chunks():
        seen += chunk
        if len(seen) >= _LOOKED_AT_BYTES:
            break
    return bytes(seen)


def _decoded(body: bytes) -> str:
    return body.decode("utf-8-sig", "replace").replace("\r\n", "\n")
