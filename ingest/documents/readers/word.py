"""Word documents: paragraphs, headings, lists and tables in the order of the text.

Office Open XML, ECMA-376 part 1, chapter 17. Deleted text of tracked changes is left out. Word
notes where pages broke when it last saved; with such notes a page is a page, without them the
document is read in sections.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final
from xml.etree.ElementTree import Element

from ingest.documents.packages import Package, attribute, events, name_of, related
from ingest.documents.pages import CELL_BORDER, Limits, Page, Read, Remark, Unit
from ingest.documents.problems import Refused
from ingest.documents.readers.plain import sections, tidy

_MAIN: Final = "word/document.xml"
_NOTES: Final = ("word/footnotes.xml", "word/endnotes.xml")
_PAGE_BREAK: Final = "\f"
# Shown in place of a newer drawing by old programs: the same text a second time.
_TWICE: Final = frozenset({"Fallback", "txbxContent"})


def read(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    package = Package(file, inflated_bytes=limits.inflated_bytes)
    main = _main_part(package)
    levels = _heading_levels(package)
    blocks = list(_blocks(package.xml(main), levels))
    notes = [tidy(text) for name in _NOTES if package.has(name) for text in _notes(package, name)]
    if any(notes):
        blocks.append((0, "", "\n".join(note for note in notes if note)))
    if any(_PAGE_BREAK in text for _, _, text in blocks):
        yield from _paged(blocks, limits)
    else:
        yield from sections((level, head, tidy(text)) for level, head, text in blocks)
    embedded = [name for name in package.names if name.startswith("word/embeddings/")]
    if embedded:
        yield Remark(f"{len(embedded):,} files that are embedded in it were not read.")


def _main_part(package: Package) -> str:
    for target in related(package, "").values():
        if target.endswith(".xml") and target.startswith("word/") and package.has(target):
            return target
    return _MAIN


def _heading_levels(package: Package) -> dict[str, int]:
    """Style id -> level of heading, 1 to 9, for the styles that are headings in any language."""
    found: dict[str, int] = {}
    if not package.has("word/styles.xml"):
        return found
    for event, element in events(package.xml("word/styles.xml")):
        if event == "end" and name_of(element) == "style":
            level = _level_of(element)
            if level:
                found[attribute(element, "styleId")] = level
            element.clear()
    return found


def _level_of(style: Element) -> int:
    for part in style.iter():
        name = name_of(part)
        if name == "outlineLvl" and attribute(part, "val").isdigit():
            level = int(attribute(part, "val")) + 1
            return level if level < 10 else 0
        if name == "name":
            words = attribute(part, "val").lower().split()
            if len(words) == 2 and words[0] == "heading" and words[1].isdigit():
                return int(words[1])
            if words == ["title"]:
                return 1
    return 0


class _Paragraph:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.level = 0
        self.is_item = False

    @property
    def text(self) -> str:
        return "".join(self.parts)


def _blocks(data: bytes, levels: dict[str, int]) -> Iterator[tuple[int, str, str]]:
    """Headings with what follows them: (level, heading, text). A page break is a form feed."""
    level, heading, lines = 0, "", list[str]()
    for kind, number, text in _Body(levels).read(data):
        if kind == "heading" and text.replace(_PAGE_BREAK, "").strip():
            if any(line.strip() for line in lines) or any(_PAGE_BREAK in line for line in lines):
                yield level, heading, "\n".join(lines)
            level, heading, lines = number, text.replace(_PAGE_BREAK, " ").strip(), []
        lines.append(text)
        if kind != "item" and kind != "row":
            lines.append("")
    yield level, heading, "\n".join(lines)


class _Body:
    """Walks over the document's body once."""

    def __init__(self, levels: dict[str, int]) -> None:
        self._levels = levels
        self._stack: list[_Paragraph] = []
        self._rows: list[list[str]] = []  # one for each table that is open: the cells of its row
        self._cells: list[list[str]] = []
        self._skip = 0
        self._has_text = False  # since the last page break

    def read(self, data: bytes) -> Iterator[tuple[str, int, str]]:
        for event, element in events(data):
            name = name_of(element)
            if name in _TWICE:
                self._skip += 1 if event == "start" else -1
                continue
            if self._skip:
                continue
            if event == "start":
                self._start(name)
                continue
            yield from self._end(name, element)
            if name in ("p", "tbl", "sdt"):
                element.clear()

    def _start(self, name: str) -> None:
        if name == "p":
            self._stack.append(_Paragraph())
        elif name == "tr":
            self._rows.append([])
        elif name == "tc":
            self._cells.append([])

    def _end(self, name: str, element: Element) -> Iterator[tuple[str, int, str]]:
        if name == "p" and self._stack:
            yield from self._paragraph(self._stack.pop())
        elif name == "tc" and self._cells and self._rows:
            self._rows[-1].append(" ".join(" ".join(self._cells.pop()).split(" ")))
        elif name == "tr" and self._rows:
            row = CELL_BORDER.join(self._rows.pop())
            if self._cells:
                self._cells[-1].append(row)
            elif row.strip(" |\f"):
                yield "row", 0, row
        elif name == "tbl" and not self._rows:
            yield "text", 0, ""
        elif self._stack:
            self._inside(name, element, self._stack[-1])

    def _inside(self, name: str, element: Element, paragraph: _Paragraph) -> None:
        if name == "t" and element.text:
            paragraph.parts.append(element.text)
            self._has_text = self._has_text or bool(element.text.strip())
        elif name == "tab":
            paragraph.parts.append(" ")
        elif name == "br" and attribute(element, "type") == "page":
            self._break(paragraph)
        elif name in ("br", "cr"):
            paragraph.parts.append("\n")
        elif name == "lastRenderedPageBreak" and self._has_text:
            # Without text since the last one it is the same break, noted twice.
            self._break(paragraph)
        elif name == "pStyle":
            paragraph.level = self._levels.get(attribute(element, "val"), paragraph.level)
        elif name == "outlineLvl" and attribute(element, "val") in "012345678":
            paragraph.level = int(attribute(element, "val") or 8) + 1
        elif name == "numPr":
            paragraph.is_item = True

    def _break(self, paragraph: _Paragraph) -> None:
        paragraph.parts.append(_PAGE_BREAK)
        self._has_text = False

    def _paragraph(self, paragraph: _Paragraph) -> Iterator[tuple[str, int, str]]:
        text = paragraph.text
        if self._cells:
            self._cells[-1].append(" ".join(text.replace("\n", " ").split(" ")))
        elif paragraph.level and text.strip(" \f"):
            yield "heading", paragraph.level, text
        elif paragraph.is_item and text.strip(" \f"):
            yield "item", 0, f"- {text}"
        else:
            yield "text", 0, text


def _paged(blocks: list[tuple[int, str, str]], limits: Limits) -> Iterator[Page]:
    number = 1
    parts: list[str] = []
    marks: list[tuple[int, str]] = []
    path: list[tuple[int, str]] = []
    for level, heading, text in blocks:
        if level:
            path = [*(each for each in path if each[0] < level), (level, heading)]
        label = " › ".join(name for _, name in path)
        for place, piece in enumerate(text.split(_PAGE_BREAK)):
            if place:
                yield _page(number, parts, marks)
                number += 1
                parts, marks = [], []
                if number > limits.pages:
                    raise Refused("too_many_pages", f"more than {limits.pages:,}")
            piece = tidy(piece)
            if piece:
                offset = sum(len(part) + 2 for part in parts)
                if label and (not marks or marks[-1][1] != label):
                    marks.append((offset, label))
                parts.append(piece)
    yield _page(number, parts, marks)


def _page(number: int, parts: list[str], marks: list[tuple[int, str]]) -> Page:
    label = marks[0][1] if marks else ""
    return Page(Unit.PAGE, number, "\n\n".join(parts), label, tuple(marks))


def _notes(package: Package, name: str) -> Iterator[str]:
    """Footnotes, a line each."""
    parts: list[str] = []
    for event, element in events(package.xml(name)):
        if event == "start":
            continue
        kind = name_of(element)
        if kind == "t" and element.text:
            parts.append(element.text)
        elif kind in ("footnote", "endnote"):
            yield "".join(parts)
            parts = []
            element.clear()
