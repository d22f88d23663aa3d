"""What a reader hands over of a document: its pages, and where on a page something stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

CELL_BORDER = " | "  # between the cells of a row, in the text of a page that is a table


class Unit(StrEnum):
    """What a page of the document is called."""

    PAGE = "page"
    SLIDE = "slide"
    SHEET = "sheet"
    SECTION = "section"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Table:
    """The page's text is a table: a header line (or none), then a line for each row.

    `columns` are the letters of the first and last column, "" when only rows have names;
    `first_row` is the number of the first row below the header.
    """

    header: str
    first_row: int
    columns: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Page:
    """One page, slide, part of a sheet, or section. `number` counts from 1 and is the number that
    people see; `label` is its heading, slide title or sheet name. `marks` say from which offset
    of the text on which heading holds."""

    unit: Unit
    number: int
    text: str
    label: str = ""
    marks: Sequence[tuple[int, str]] = ()
    table: Table | None = None
    by_ocr: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about the document that its owner should know: what of it was not read."""

    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """The reader is at a step that takes long, such as reading a picture: the clock starts anew."""


Read = Page | Remark | Working


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one document may take: bytes, characters, seconds. `ocr_program` is the path of
    tesseract, "" when it is not installed."""

    pages: int
    characters: int
    inflated_bytes: int
    ocr_program: str
    ocr_languages: str
    ocr_pages: int
    seconds: int
    memory_bytes: int


def column_letters(index: int) -> str:
    """The name of a spreadsheet's column, from 0: A, B, … Z, AA."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name
