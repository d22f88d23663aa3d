"""Tables: CSV and workbooks. A page is a part of a sheet, with the header row on each."""

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any, BinaryIO, Final

from python_calamine import CalamineError, CalamineWorkbook

from ingest.documents.kinds import decoded, delimiter_of
from ingest.documents.packages import Package
from ingest.documents.pages import (
    CELL_BORDER,
    Limits,
    Page,
    Read,
    Table,
    Unit,
    column_letters,
)
from ingest.documents.problems import Refused
from ingest.normalise import clean

_ROWS_A_PAGE: Final = 100
_CELL_CHARS: Final = 2_000
_MOST_COLUMNS: Final = 256
_MOST_CELLS: Final = 4_000_000


def read_csv(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    file.seek(0)
    text = decoded(file.read(limits.characters * 4 + 4))
    if len(text) > limits.characters:
        raise Refused("too_much_text")
    delimiter = delimiter_of(text) or ","
    # Cells are bounded by the file, and a quote that never ends makes one long cell, not an error.
    csv.field_size_limit(len(text) + 1)
    rows = csv.reader(io.StringIO(clean(text)), delimiter=delimiter)
    try:
        yield from _pages((row for row in rows), sheet="", first=0, number=0)
    except csv.Error as error:
        raise Refused("damaged", "its rows cannot be told apart.") from error


def read_workbook(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    package = Package(file, inflated_bytes=limits.inflated_bytes)
    package.check_all_xml()
    file.seek(0)
    try:
        workbook = CalamineWorkbook.from_filelike(file)
        number = 0
        for name in workbook.sheet_names:
            sheet = workbook.get_sheet_by_name(name)
            if sheet.height * sheet.width > _MOST_CELLS:
                raise Refused("unpacks_too_large")
            start = sheet.start or (0, 0)
            rows = sheet.to_python(skip_empty_area=True)
            for page in _pages(
                ([_cell(each) for each in row] for row in rows),
                sheet=clean(name),
                first=start[0],
                number=number,
                first_column=start[1],
            ):
                number = page.number
                yield page
    except CalamineError as error:
        is_locked = "password" in str(error).lower()
        raise Refused(
            "encrypted" if is_locked else "damaged", "it cannot be opened as a workbook."
        ) from error


def _cell(value: Any) -> str:
    """As a person would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"
    if isinstance(value, datetime):
        has_time = value.hour or value.minute or value.second
        return value.isoformat(" ", "seconds") if has_time else value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return "" if value is None else clean(str(value))


def _pages(
    rows: Iterable[list[str]], *, sheet: str, first: int, number: int, first_column: int = 0
) -> Iterator[Page]:
    """`first` and `first_column` count from 0 and say where the rows begin in the sheet."""
    header, width = "", 0
    lines: list[str] = []
    has_given = False
    begin = first + 1
    at = first
    for row in rows:
        at += 1
        cells = [" ".join(cell.split())[:_CELL_CHARS] for cell in row[:_MOST_COLUMNS]]
        while cells and not cells[-1]:
            cells.pop()
        width = max(width, len(cells))
        line = CELL_BORDER.join(cells)
        if not header and not lines and sum(1 for cell in cells if cell) > 1:
            header, begin = line, at + 1
            continue
        if not lines:
            begin = at
        lines.append(line)
        if len(lines) == _ROWS_A_PAGE:
            number += 1
            has_given = True
            yield _page(number, sheet, header, lines, begin, first_column, width)
            lines = []
    if any(lines) or (header and not has_given):
        yield _page(number + 1, sheet, header, lines, begin, first_column, width)


def _page(
    number: int,
    sheet: str,
    header: str,
    lines: list[str],
    first_row: int,
    first_column: int,
    width: int,
) -> Page:
    columns = ("", "")
    if sheet:
        columns = (column_letters(first_column), column_letters(first_column + max(width, 1) - 1))
    text = "\n".join([header, *lines] if header else lines)
    return Page(
        Unit.SHEET if sheet else Unit.SECTION,
        number,
        text,
        sheet,
        table=Table(header, first_row, columns),
    )
