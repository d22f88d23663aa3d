"""Tables (CSV) whose rows are messages: Microsoft Copilot's activity history."""

import codecs
import csv
from collections.abc import Iterable, Iterator

import orjson

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.grouping import grouped
from ingest.importers.envelopes import ROWS_KEY
from ingest.importers.ms_copilot import chat_of, is_copilot_row
from ingest.json_stream import Element

_HEADER_BYTES = 2000


class TableCutter:
    """Rows lie newest first and chats are mixed; each chat's rows come together, in file order."""

    def claims(self, source: Source, head: bytes) -> bool:
        line = head[:_HEADER_BYTES].split(b"\n", 1)[0].decode("utf-8-sig", "replace")
        if "," not in line or line.lstrip().startswith(("{", "[", "<")):
            return False
        try:
            names = next(csv.reader([line.strip()]), [])
        except csv.Error:
            return False  # not a line of a table: a stray line end, a cell without end
        return is_copilot_row(dict.fromkeys(names, ""))

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        records = ((chat_of(row), orjson.dumps(row)) for row in _rows(source, settings))
        return grouped(records, ROWS_KEY.encode(), source.size, settings)


TABLE = TableCutter()


def _rows(source: Source, settings: Settings) -> Iterator[dict[str, str]]:
    """Each row by its columns' names; cells beyond them are left out."""
    csv.field_size_limit(min(settings.conversation_max_bytes, 2**31 - 1))
    reader = csv.reader(_lines(source.chunks()))
    try:
        names = [name.strip() for name in next(reader, [])]
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield dict(zip(names, cells, strict=False))
    except csv.Error:
        return  # a cell over the limit or a stray NUL: what came before counts


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    rest = ""
    for chunk in chunks:
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in lines:
            yield line.replace("\x00", "") + "\n"
    rest += decoder.decode(b"", final=True)
    if rest:
        yield rest.replace("\x00", "")
