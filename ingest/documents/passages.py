"""Passages of a document: what search finds, each with the page that it stands on.

Bounded in tokens, and never across a page, with one exception: a page of a few words, such as the
last line of a chapter, goes with the page beside it, and then both are named. Parts of one text
overlap by a sentence or so; the rows of a table carry its header row.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from backread.store.repositories.file_passages import PassageValues
from backread.tokens import estimate_tokens
from ingest.documents.pages import Page, Table, Unit
from ingest.passages import cut

# Of the readers and of the passages; raise it when either gives something else.
READER_VERSION: Final = 1

PASSAGE_TOKENS: Final = 300
_CRUMB_TOKENS: Final = 16  # a page with less goes with another one
_OVERLAP_CHARS: Final = 160
_OVERLAP_TOKENS: Final = 40
_HEADER_CHARS: Final = 600  # of a header row, as far as passages repeat it
_SENTENCE_ENDS: Final = (". ", "! ", "? ", "… ", ".\n", "。", "！", "？", "\n")
_JOIN: Final = "\n"


def passages_of(name: str, pages: Sequence[Page]) -> list[PassageValues]:
    """In reading order. `name` is the document's; it stands in the heading of each passage, which
    is searched with it."""
    found: list[PassageValues] = []
    crumb: Page | None = None  # waits for the next page
    for page in pages:
        if not page.text.strip():
            continue
        if _is_crumb(page) and crumb is None:
            crumb = page
            continue
        own = list(_of_page(name, page))
        if crumb is not None and own:
            own[0] = _joined(crumb, page, own[0])
            crumb = None
        found += own
    if crumb is not None:
        (alone,) = _of_page(name, crumb)
        before = found.pop() if found else None
        found.append(alone if before is None else _appended(before, crumb))
    return found


def location_of(page: Page, label: str) -> str:
    """Where on which page, in words."""
    if page.unit is Unit.SECTION:
        return label or f"section {page.number}"
    return f"{page.unit.value} {page.number}" if page.unit is not Unit.IMAGE else "image"


def _is_crumb(page: Page) -> bool:
    return page.unit is Unit.PAGE and estimate_tokens(page.text) < _CRUMB_TOKENS


def _of_page(name: str, page: Page) -> Iterator[PassageValues]:
    if page.table is not None:
        yield from _of_table(name, page, page.table)
        return
    for start, end, label in _parts(page):
        yield _passage(
            page, start, end, page.text[start:end], location_of(page, label), _heading(name, label)
        )


def _parts(page: Page) -> Iterator[tuple[int, int, str]]:
    """Start, end and heading of each passage: short sections together, long ones in parts."""
    text = page.text
    begin, begin_label = 0, page.label
    borders = [(at, label) for at, label in page.marks if 0 < at < len(text)]
    if page.marks and page.marks[0][0] == 0:
        begin_label = page.marks[0][1]
    at, label = begin, begin_label
    for border, next_label in [*borders, (len(text), "")]:
        if begin < at and estimate_tokens(text[begin:border]) > PASSAGE_TOKENS:
            yield from _cut(text, begin, at, begin_label)
            begin, begin_label = at, label
        at, label = border, next_label
    yield from _cut(text, begin, len(text), begin_label)


def _cut(text: str, begin: int, end: int, label: str) -> Iterator[tuple[int, int, str]]:
    last = begin
    for start, stop in cut(text[begin:end], PASSAGE_TOKENS):
        start, stop = begin + start, begin + stop
        yield _overlapping(text, last, start), stop, label
        last = start


def _overlapping(text: str, lowest: int, start: int) -> int:
    """Where the last sentence before `start` begins, if that is near."""
    if start == lowest:
        return start
    reach = max(lowest, start - _OVERLAP_CHARS)
    tokens = estimate_tokens(text[reach:start])
    if tokens > _OVERLAP_TOKENS:
        reach = start - (start - reach) * _OVERLAP_TOKENS // tokens
    window = text[reach:start].rstrip()
    border = max(
        window.rfind(mark) + len(mark) if mark in window else -1 for mark in _SENTENCE_ENDS
    )
    if border < 0:
        space = window.find(" ")
        border = space + 1 if space >= 0 else 0
    return reach + border if window[border:].strip() else start


def _of_table(name: str, page: Page, table: Table) -> Iterator[PassageValues]:
    lines = page.text.split("\n")
    header = table.header[:_HEADER_CHARS]
    begin = 1 if table.header else 0
    room = max(PASSAGE_TOKENS - estimate_tokens(header), PASSAGE_TOKENS // 2)
    size, offset = 0, sum(len(line) + 1 for line in lines[:begin])
    start = offset
    for at in range(begin, len(lines)):
        tokens = estimate_tokens(lines[at]) + 1
        if size and size + tokens > room:
            yield from _rows(name, page, header, lines[begin:at], start, begin, room)
            begin, size, start = at, 0, offset
        size += tokens
        offset += len(lines[at]) + 1
    rows = lines[begin:]
    if any(row.strip() for row in rows):
        yield from _rows(name, page, header, rows, start, begin, room)
    elif len(lines) == 1:
        yield from _rows(name, page, "", lines, 0, 0, room)


def _rows(
    name: str, page: Page, header: str, rows: Sequence[str], start: int, line: int, room: int
) -> Iterator[PassageValues]:
    """One passage, or several of a row that is longer than one. `start` is the offset of the
    rows, `line` the number of the first among the page's lines."""
    assert page.table is not None
    first = page.table.first_row + line - (1 if page.table.header else 0)
    last = max(first, first + len(rows) - 1)
    left, right = page.table.columns
    if left:
        location = f"{page.label}!{left}{first}:{right}{last}"
    else:
        location = f"row {first}" if first == last else f"rows {first}–{last}"
    body = "\n".join(rows)
    pieces = cut(body, room) if len(rows) == 1 else [(0, len(body))]
    for begin, end in pieces:
        text = f"{header}\n{body[begin:end]}" if header else body[begin:end]
        heading = _heading(name, page.label)
        yield _passage(page, start + begin, start + end, text, location, heading)


def _passage(
    page: Page, start: int, end: int, text: str, location: str, heading: str
) -> PassageValues:
    return PassageValues(
        first_page=page.number,
        last_page=page.number,
        start_offset=start,
        end_offset=end,
        location=location,
        heading=heading,
        text=text,
        token_count=estimate_tokens(text),
    )


def _heading(name: str, label: str) -> str:
    return f"{name} › {label}" if label and label != name else name


def _joined(crumb: Page, page: Page, passage: PassageValues) -> PassageValues:
    """The short page before, and the first passage of this one."""
    text = crumb.text.strip() + _JOIN + passage["text"]
    return PassageValues(
        first_page=crumb.number,
        last_page=page.number,
        start_offset=0,
        end_offset=passage["end_offset"],
        location=f"pages {crumb.number}–{page.number}",
        heading=passage["heading"],
        text=text,
        token_count=estimate_tokens(text),
    )


def _appended(passage: PassageValues, crumb: Page) -> PassageValues:
    """The last passage, and the short page after it."""
    text = passage["text"] + _JOIN + crumb.text.strip()
    return PassageValues(
        first_page=passage["first_page"],
        last_page=crumb.number,
        start_offset=passage["start_offset"],
        end_offset=len(crumb.text),
        location=f"pages {passage['first_page']}–{crumb.number}",
        heading=passage["heading"],
        text=text,
        token_count=estimate_tokens(text),
    )
