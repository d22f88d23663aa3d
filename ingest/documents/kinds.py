"""What kind of document a file is, by what is in it. Its name is not looked at."""

import csv
import io
import re
import zipfile
from enum import StrEnum
from typing import BinaryIO, Final

from charset_normalizer import from_bytes

from ingest.documents.problems import Refused


class Kind(StrEnum):
    PDF = "pdf"
    WORD = "docx"
    SLIDES = "pptx"
    WORKBOOK = "xlsx"
    CSV = "csv"
    HTML = "html"
    MARKDOWN = "md"
    TEXT = "txt"
    BOOK = "epub"
    IMAGE = "image"


_HEAD_BYTES: Final = 64 * 1024
_ZIP: Final = b"PK\x03\x04"
_OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")
_IMAGES: Final = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"II*\x00",
    b"MM\x00*",
    b"BM",
)
_MAIN_PARTS: Final = (
    ("word/", Kind.WORD),
    ("ppt/", Kind.SLIDES),
    ("xl/", Kind.WORKBOOK),
)
_BYTE_ORDERS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_HTML: Final = re.compile(
    r"\s*(?:<!--.*?-->\s*)*(?:<\?xml[^>]*>\s*)?(?:<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_MARKDOWN: Final = re.compile(
    r"^(?:#{1,6} \S|```|~~~|[-*+] \[[ x]\] |\|[^\n]*\|[ \t]*\n\|[ :|-]+\|)|\[[^\]\n]+\]\([^)\s]+\)",
    re.MULTILINE,
)
_SAMPLE_ROWS: Final = 50
_SAMPLE_CHARS: Final = 64 * 1024
_LEAST_ROWS: Final = 2
_DELIMITERS: Final = ",;\t|"


def kind_of(file: BinaryIO) -> Kind:
    """Raises Refused for a file that is empty, of no known kind, encrypted or of an old format."""
    file.seek(0)
    head = file.read(_HEAD_BYTES)
    if not head:
        raise Refused("empty")
    if b"%PDF-" in head[:1024]:
        return Kind.PDF
    if head.startswith(_ZIP):
        return _kind_of_package(file)
    if head.startswith(_OLD_OFFICE):
        file.seek(0)
        raise Refused("encrypted" if _ENCRYPTED_PACKAGE in file.read() else "old_office")
    if head.startswith(_IMAGES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return Kind.IMAGE
    return _kind_of_text(head)


def _kind_of_package(file: BinaryIO) -> Kind:
    try:
        with zipfile.ZipFile(file) as package:
            names = [info.filename for info in package.infolist()[:10_000]]
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError) as error:
        raise Refused("damaged", "its parts cannot be listed.") from error
    if "META-INF/container.xml" in names:
        return Kind.BOOK
    if "[Content_Types].xml" in names:
        for start, kind in _MAIN_PARTS:
            if any(name.startswith(start) for name in names):
                return kind
    raise Refused("unknown_kind")


def _kind_of_text(head: bytes) -> Kind:
    if head.startswith(b"{\\rtf"):
        raise Refused("unknown_kind")
    text = decoded(head, is_cut=len(head) == _HEAD_BYTES)
    if _HTML.match(text):
        return Kind.HTML
    if is_table(text):
        return Kind.CSV
    return Kind.MARKDOWN if _MARKDOWN.search(text) else Kind.TEXT


def decoded(data: bytes, *, is_cut: bool = False) -> str:
    """The text of bytes in whatever encoding they are. Raises Refused when they are no text."""
    for mark, encoding in _BYTE_ORDERS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if b"\x00" in data:
        raise Refused("unknown_kind")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if is_cut and error.start >= len(data) - 4:  # in the middle of the last character
            return data[: error.start].decode("utf-8")
    best = from_bytes(data[:_HEAD_BYTES]).best()
    if best is None:
        raise Refused("unknown_kind")
    return data.decode(best.encoding, "replace")


def delimiter_of(text: str) -> str:
    """The character that stands between the cells of a table; "" when the text is no table: it
    has at least two rows, and nine in ten of them as many cells, two at least."""
    sample = text[:_SAMPLE_CHARS]
    if len(text) > _SAMPLE_CHARS:
        sample = sample.rpartition("\n")[0]
    best, most = "", 1
    for delimiter in _DELIMITERS:
        rows = _rows(sample, delimiter)
        counts = [len(row) for row in rows]
        if len(counts) < _LEAST_ROWS or not counts:
            continue
        usual = max(set(counts), key=counts.count)
        if usual > most and counts.count(usual) >= 0.9 * len(counts) and _looks_cut(rows):
            best, most = delimiter, usual
    return best


def is_table(text: str) -> bool:
    return bool(delimiter_of(text))


def _rows(sample: str, delimiter: str) -> list[list[str]]:
    found: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(sample), delimiter=delimiter):
            if row:
                found.append(row)
            if len(found) == _SAMPLE_ROWS:
                break
    except csv.Error:
        return []
    return found


def _looks_cut(rows: list[list[str]]) -> bool:
    """Prose has commas, too: its parts begin with a space and are long, or end in a full stop."""
    cells = [cell for row in rows for cell in row]
    prose = sum(1 for cell in cells if len(cell) > 400 or (cell[:1] == " " and " " in cell[1:]))
    stops = sum(1 for row in rows if row[-1].rstrip().endswith((".", "。", "!", "?")))
    return prose < len(cells) / 4 and stops <= len(rows) / 2
