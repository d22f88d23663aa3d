"""PowerPoint: the slides in their order, each with its title, its tables and its notes.

Office Open XML, ECMA-376 part 1, chapters 19 and 21.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final
from xml.etree.ElementTree import Element

from ingest.documents.packages import Package, attribute, events, name_of, related
from ingest.documents.pages import CELL_BORDER, Limits, Page, Read, Remark, Unit
from ingest.documents.problems import Refused
from ingest.documents.readers.plain import tidy

_MAIN: Final = "ppt/presentation.xml"
_TITLE_CHARS: Final = 160
_TITLES: Final = ("title", "ctrTitle")
# Filled in by the program on every slide.
_FILLED_IN: Final = ("sldNum", "dt", "ftr", "hdr", "sldImg")


def read(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    package = Package(file, inflated_bytes=limits.inflated_bytes)
    slides = _slides_in_order(package)
    if len(slides) > limits.pages:
        raise Refused("too_many_pages", f"{len(slides):,}")
    for number, part in enumerate(slides, 1):
        title, text = _read_shapes(package.xml(part))
        for target in related(package, part).values():
            if "notesSlide" in target and package.has(target):
                _, notes = _read_shapes(package.xml(target))
                if notes:
                    text = f"{text}\n\nNotes: {notes}"
        text = tidy(text)
        marks = ((0, title),) if title else ()
        yield Page(Unit.SLIDE, number, text, title, marks)
    embedded = [name for name in package.names if name.startswith("ppt/embeddings/")]
    if embedded:
        yield Remark(f"{len(embedded):,} files that are embedded in it were not read.")


def _slides_in_order(package: Package) -> list[str]:
    targets = related(package, _MAIN)
    order = []
    for event, element in events(package.xml(_MAIN)):
        if event == "end" and name_of(element) == "sldId":
            # The element has an id of its own, too; the other one is the relation's.
            ids = [value for key, value in element.attrib.items() if key.endswith("}id")]
            order += [targets[each] for each in ids if each in targets]
    return [part for part in order if package.has(part)]


def _read_shapes(data: bytes) -> tuple[str, str]:
    """The slide's title and all its text, the title first."""
    shapes = _Shapes()
    for event, element in events(data):
        if event == "start":
            shapes.start(name_of(element))
        else:
            shapes.end(name_of(element), element)
    body = "\n".join(shapes.blocks)
    title = shapes.title
    return title[:_TITLE_CHARS], f"{title}\n\n{body}".strip() if title else body


class _Shapes:
    """Walks over the shapes of a slide once."""

    def __init__(self) -> None:
        self.title = ""
        self.blocks: list[str] = []
        self._lines: list[str] = []  # of the shape, or of the cell
        self._words: list[str] = []
        self._cells: list[str] = []
        self._placeholder = ""
        self._in_cell = False

    def start(self, name: str) -> None:
        if name == "sp":
            self._placeholder, self._lines = "", []
        elif name == "tc":
            self._in_cell, self._lines = True, []
        elif name == "tr":
            self._cells = []
        elif name == "p":
            self._words = []

    def end(self, name: str, element: Element) -> None:
        if name == "ph":
            self._placeholder = attribute(element, "type")
        elif name == "t" and element.text:
            self._words.append(element.text)
        elif name == "br":
            self._words.append("\n")
        elif name == "p":
            self._lines.append("".join(self._words).strip())
            self._words = []
        elif name == "tc":
            self._cells.append(" ".join(line for line in self._lines if line))
            self._in_cell, self._lines = False, []
        elif name == "tr":
            self.blocks.append(CELL_BORDER.join(self._cells))
        elif name == "sp" and not self._in_cell:
            self._end_shape()
            element.clear()

    def _end_shape(self) -> None:
        text = "\n".join(line for line in self._lines if line)
        if self._placeholder in _TITLES and text and not self.title:
            self.title = " ".join(text.split())
        elif text and self._placeholder not in _FILLED_IN:
            self.blocks.append(text)
        self._lines = []
