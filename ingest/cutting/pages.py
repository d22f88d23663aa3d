"""Saved pages that carry their chat as JSON: Next.js writes it into `__NEXT_DATA__`."""

import re
from collections.abc import Iterator

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.importers import importer_for
from ingest.json_stream import Element, load, split

_DATA = re.compile(rb'<script[^>]*\bid="__NEXT_DATA__"[^>]*>(.*?)</script>', re.DOTALL)
_STARTS = re.compile(rb"\s*(?:\xef\xbb\xbf\s*)?<(?:!doctype html|html)\b", re.IGNORECASE)
_LOOKED_AT_BYTES = 64 * 1024**2


class PageDataCutter:
    def claims(self, source: Source, head: bytes) -> bool:
        if not _STARTS.match(head):
            return False
        data = _data(source, _LOOKED_AT_BYTES)
        elements = list(split([data or b""], _LOOKED_AT_BYTES))
        try:
            return len(elements) == 1 and importer_for(load(elements[0].body)) is not None
        except ValueError:
            return False

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        data = _data(source, settings.conversation_max_bytes)
        if data is None:
            yield Element(0, source.size, b"", too_large(settings))
        else:
            yield from split([data], settings.conversation_max_bytes)


PAGE_DATA = PageDataCutter()


def _data(source: Source, most: int) -> bytes | None:
    page = bytearray()
    for chunk in source.chunks():
        page += chunk
        if len(page) > most:
            return None
    found = _DATA.search(page)
    return bytes(found[1]) if found else None
