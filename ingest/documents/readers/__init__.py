"""One reader for each kind of document. Each takes an open file and gives its pages in order, or
raises `Refused`. They run only in the process that `ingest.documents.process` starts."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import BinaryIO, Final

from ingest.documents.kinds import Kind
from ingest.documents.pages import Limits, Read

Reader = Callable[[BinaryIO, Limits], Iterator[Read]]

# Kind -> module and function. Loaded when they are needed: a process reads one document.
_READERS: Final[dict[Kind, tuple[str, str]]] = {
    Kind.PDF: ("pdf", "read"),
    Kind.WORD: ("word", "read"),
    Kind.SLIDES: ("slides", "read"),
    Kind.WORKBOOK: ("tables", "read_workbook"),
    Kind.CSV: ("tables", "read_csv"),
    Kind.HTML: ("plain", "read_html_file"),
    Kind.MARKDOWN: ("plain", "read_markdown"),
    Kind.TEXT: ("plain", "read_text"),
    Kind.BOOK: ("books", "read"),
    Kind.IMAGE: ("images", "read"),
}


def reader_of(kind: Kind) -> Reader:
    module, function = _READERS[kind]
    found: Reader = getattr(import_module(f"ingest.documents.readers.{module}"), function)
    return found
