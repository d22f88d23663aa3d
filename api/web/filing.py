"""What the pages of documents show: words for states and kinds, and text with a passage marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from backread.store.models import File, FilePage, FilePassage
from ingest.documents.pages import CELL_BORDER

KINDS: Final = {
    "pdf": "PDF",
    "docx": "Word",
    "pptx": "PowerPoint",
    "xlsx": "Excel",
    "csv": "CSV",
    "html": "HTML",
    "md": "Markdown",
    "txt": "Text",
    "epub": "EPUB",
    "image": "Image",
}
STATES: Final = {"waiting": "Waiting", "reading": "Reading", "ready": "Ready", "failed": "Not read"}
_MARK: Final = Markup('<mark id="passage" class="passage">{}</mark>')


@dataclass(frozen=True, slots=True)
class TableRow:
    cells: Sequence[str]
    is_marked: bool


def kind_and_pages(file: File) -> str:
    """`PDF, 12 pages`."""
    kind = KINDS.get(file.kind, "")
    unit = file.page_unit
    if not file.page_count or unit in ("", "image") or (unit == "section" and file.page_count == 1):
        return kind
    unit = "part" if unit in ("section", "sheet") else unit
    return f"{kind}, {file.page_count:,} {unit}{'' if file.page_count == 1 else 's'}"


def page_name(file: File, number: int, label: str) -> str:
    """What a page is called in the list of pages."""
    unit = {"section": "Part", "sheet": "Part"}.get(file.page_unit, file.page_unit.title())
    short = label if len(label) <= 60 else f"{label[:59]}…"
    return f"{unit} {number}{f': {short}' if short else ''}"


def marked_range(page_number: int, length: int, passage: FilePassage | None) -> tuple[int, int]:
    """From where to where the passage stands on the page; (0, 0) when it does not."""
    if passage is None or not passage.first_page <= page_number <= passage.last_page:
        return 0, 0
    start = passage.start_offset if page_number == passage.first_page else 0
    end = passage.end_offset if page_number == passage.last_page else length
    return min(start, length), min(end, length)


def marked_text(text: str, start: int, end: int) -> Markup:
    """The text, escaped, with the range marked."""
    if start >= end:
        return escape(text)
    return Markup("{}{}{}").format(text[:start], _MARK.format(text[start:end]), text[end:])


def table_rows(page: FilePage, start: int, end: int) -> list[TableRow]:
    """The lines of a page that is a table, in cells."""
    rows, offset = [], 0
    for line in page.text.split("\n"):
        is_marked = start < end and start <= offset < end
        rows.append(TableRow(line.split(CELL_BORDER), is_marked))
        offset += len(line) + 1
    return rows
