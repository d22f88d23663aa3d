"""Google Takeout's activity, as JSON or as a page: a row is a prompt with its answer, and the
rows of one chat lie wherever they were made."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import orjson

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.grouping import grouped
from ingest.importers.activity_rows import (
    chat_id,
    is_gemini,
    is_other_action,
    is_other_action_of_page,
    is_page_of_gemini,
)
from ingest.importers.envelopes import PAGE_KEY, ROWS_KEY
from ingest.json_stream import Element, load, split

_ROWS_LOOKED_AT = 200
_PAGE_LOOKED_AT_BYTES = 4 * 1024**2
_CELL = b'<div class="outer-cell'
_STARTS = re.compile(rb"\s*(?:\xef\xbb\xbf\s*)?<(?:!doctype html|html|div)\b", re.IGNORECASE)


class ActivityRowsCutter:
    """The JSON form. Rows of other products, in one list with Gemini's, are left out."""

    def claims(self, source: Source, head: bytes) -> bool:
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            return False
        rows = islice(_rows(source, 1024**2), _ROWS_LOOKED_AT)
        first = next(rows, None)
        if first is None or not _is_row(first[0]):
            return False
        return is_gemini(first[0]) or any(is_gemini(row) for row, _ in rows)

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        records = (
            (chat_id(str(row.get("titleUrl"))), body)
            for row, body in _rows(source, settings.conversation_max_bytes)
            if is_gemini(row) and not is_other_action(row)
        )
        return grouped(records, ROWS_KEY.encode(), source.size, settings)


class ActivityPageCutter:
    """The page form, Takeout's default."""

    def claims(self, source: Source, head: bytes) -> bool:
        if not _STARTS.match(head):
            return False
        seen = b""
        for chunk in source.chunks():
            seen += chunk
            if len(seen) >= _PAGE_LOOKED_AT_BYTES:
                break
        cells = seen.split(_CELL)[1:]
        return any(is_page_of_gemini(_cell(cell)) for cell in cells[:_ROWS_LOOKED_AT])

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        records = (
            (chat_id(cell), orjson.dumps(cell))
            for cell in _cells(source, settings.conversation_max_bytes)
            if is_page_of_gemini(cell) and not is_other_action_of_page(cell)
        )
        return grouped(records, PAGE_KEY.encode(), source.size, settings)


ACTIVITY_ROWS = ActivityRowsCutter()
ACTIVITY_PAGE = ActivityPageCutter()


def _rows(source: Source, most: int) -> Iterator[tuple[dict[str, Any], bytes]]:
    for element in split(source.chunks(), most):
        try:
            row = load(element.body) if not element.problem else None
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row, element.body


def _is_row(row: dict[str, Any]) -> bool:
    return "header" in row and "title" in row


def _cells(source: Source, most: int) -> Iterator[str]:
    """What stands behind each mark of a cell, up to the next; one that is too long is cut."""
    pending = bytearray()
    is_inside = False
    for chunk in source.chunks():
        pending += chunk
        while (at := pending.find(_CELL)) >= 0:
            if is_inside:
                yield _cell(bytes(pending[:at]))
            del pending[: at + len(_CELL)]
            is_inside = True
        if not is_inside:
            del pending[: -len(_CELL)]
        elif len(pending) > most:
            yield _cell(bytes(pending[:most]))
            pending.clear()
            is_inside = False
    if is_inside:
        yield _cell(bytes(pending))


def _cell(html: bytes) -> str:
    return html.decode("utf-8", "replace")
