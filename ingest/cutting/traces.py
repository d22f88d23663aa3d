"""Traces of Visual Studio's Copilot: lines of OpenTelemetry spans, of which each names its chat."""

from collections.abc import Iterator
from typing import Any

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.grouping import grouped
from ingest.importers.base import dicts_in
from ingest.importers.envelopes import ROWS_KEY
from ingest.importers.visual_studio import chat_of, is_copilot_span
from ingest.json_stream import Element, dump, load, split

_LINE_START = b'{"resourceSpans"'
_SPANS_LOOKED_AT = 200
_LOOKED_AT_BYTES = 1024**2


class TracesCutter:
    """One element per chat, its spans in the order of the file; spans of no chat are left out."""

    def claims(self, source: Source, head: bytes) -> bool:
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").replace(b" ", b"").startswith(_LINE_START):
            return False
        for count, span in enumerate(_spans(source, _LOOKED_AT_BYTES)):
            if is_copilot_span(span):
                return True
            if count >= _SPANS_LOOKED_AT:
                break
        return False

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        records = (
            (chat_of(span), dump(span))
            for span in _spans(source, settings.conversation_max_bytes)
            if is_copilot_span(span)
        )
        return grouped(records, ROWS_KEY.encode(), source.size, settings)


TRACES = TracesCutter()


def _spans(source: Source, most: int) -> Iterator[dict[str, Any]]:
    for element in split(source.chunks(), most):
        try:
            batch = load(element.body) if not element.problem else None
        except ValueError:
            continue
        if isinstance(batch, dict):
            for resource in dicts_in(batch.get("resourceSpans")):
                for scope in dicts_in(resource.get("scopeSpans")):
                    yield from dicts_in(scope.get("spans"))
