"""Plain text, Markdown and HTML: cut into sections at their headings."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Final

from ingest.documents.kinds import decoded
from ingest.documents.pages import Limits, Page, Read, Unit
from ingest.documents.problems import Refused
from ingest.html_text import read_html
from ingest.normalise import clean

_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t#]*$")
_FENCE: Final = re.compile(r"^ {0,3}(```+|~~~+)")
_TITLE: Final = re.compile(r"<title[^>]*>(.{0,500}?)</title>", re.IGNORECASE | re.DOTALL)
_MANY_BLANK: Final = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
# A section is grown to about this length before the next heading begins another one.
_SECTION_CHARS: Final = 6_000
_LONGEST_SECTION: Final = 24_000
_LABEL_CHARS: Final = 160
_PATH: Final = " › "


def read_text(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    yield from sections([(0, "", _whole(file, limits))])


def read_markdown(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    yield from sections(headed(_whole(file, limits)))


def read_html_file(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    html = _whole(file, limits)
    text, _ = read_html(html)
    title = _TITLE.search(html)
    blocks = list(headed(text))
    if title and title.group(1).strip() and not any(level for level, _, _ in blocks):
        name, _ = read_html(title.group(1))
        blocks = [(1, name, text)]
    yield from sections(blocks)


def _whole(file: BinaryIO, limits: Limits) -> str:
    file.seek(0)
    data = file.read(limits.characters * 4 + 4)
    text = decoded(data)
    if len(text) > limits.characters:
        raise Refused("too_much_text")
    return tidy(text)


def tidy(text: str) -> str:
    """Without what cannot be stored, and without blanks at the ends of lines."""
    lines = (line.rstrip() for line in clean(text).replace("\f", "\n").split("\n"))
    return _MANY_BLANK.sub("\n\n", "\n".join(lines)).strip()


def headed(text: str) -> Iterator[tuple[int, str, str]]:
    """The blocks of Markdown: level of the heading (0 for none), the heading, and the text with
    it. What stands in code is no heading."""
    level, heading, lines, fence = 0, "", list[str](), ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
        found = None if fence else _HEADING.match(line)
        if found:
            if lines:
                yield level, heading, "\n".join(lines)
            level, heading, lines = len(found.group(1)), found.group(2), []
        lines.append(line)
    yield level, heading, "\n".join(lines)


def sections(blocks: Iterable[tuple[int, str, str]]) -> Iterator[Page]:
    """Pages out of blocks (level, heading, text): several short blocks together, a long one in
    parts. Each page knows from where on which headings hold."""
    path: list[tuple[int, str]] = []
    parts: list[str] = []
    marks: list[tuple[int, str]] = []
    size = number = 0
    for level, heading, text in blocks:
        if level:
            path = _under(path, level, heading)
        label = _PATH.join(name for _, name in path if name)
        for piece in _pieces(text.strip("\n")):
            if size and size + len(piece) > _SECTION_CHARS:
                number += 1
                yield _section(number, parts, marks)
                parts, marks, size = [], [], 0
            if label and (not marks or marks[-1][1] != label):
                marks.append((size, label))
            parts.append(piece)
            size += len(piece) + 2
    if any(part.strip() for part in parts):
        yield _section(number + 1, parts, marks)


def marks_of(text: str) -> list[tuple[int, str]]:
    """From which offset of a text in Markdown on which headings hold."""
    marks: list[tuple[int, str]] = []
    path: list[tuple[int, str]] = []
    offset = 0
    for level, heading, block in headed(text):
        if level:
            path = _under(path, level, heading)
            marks.append((offset, _PATH.join(name for _, name in path)))
        offset += len(block) + 1
    return marks


def _under(path: Sequence[tuple[int, str]], level: int, heading: str) -> list[tuple[int, str]]:
    """The headings that hold once this one has come."""
    above = [each for each in path if each[0] < level]
    return [*above, (level, " ".join(heading.split())[:_LABEL_CHARS])]


def _section(number: int, parts: Sequence[str], marks: Sequence[tuple[int, str]]) -> Page:
    return Page(
        Unit.SECTION, number, "\n\n".join(parts), marks[0][1] if marks else "", tuple(marks)
    )


def _pieces(text: str) -> Iterator[str]:
    """The text in parts that a page of the viewer can show, cut between paragraphs or lines."""
    start = 0
    while len(text) - start > _LONGEST_SECTION:
        end = -1
        for mark in ("\n\n", "\n", " "):
            end = text.rfind(mark, start + _LONGEST_SECTION // 2, start + _LONGEST_SECTION)
            if end > 0:
                break
        end = end if end > 0 else start + _LONGEST_SECTION
        yield text[start:end].strip("\n")
        start = end
    if text[start:].strip():
        yield text[start:].strip("\n")
