"""Markdown cut into blocks, each with where it stands and under which headings."""

import re
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LEAVES = {"inline", "fence", "code_block", "html_block"}
# What a block stands under goes into all that is made of it, so it is kept short: a heading, the
# name of a column and the line before a list are cut at so many characters.
_MOST_HEADING, _MOST_COLUMN, _MOST_LEAD = 300, 80, 600
_LINE_END = re.compile(r"\r\n?|\n")  # as the parser has it
# One way alone to read each line: with two, a text without the second mark takes for ever.
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:[^\n]*\n)*?---[ \t]*(?:\r?\n|$)")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, table row, heading or code block.

    `start` and `end` are characters of the text. `headings` are those above it, outermost first.
    """

    kind: str  # paragraph | item | row | heading | code
    start: int
    end: int
    headings: tuple[str, ...]
    lead: str = ""  # of an item: the line that introduces its list
    head: tuple[str, ...] = ()  # of a row: the names of its columns


@cache
def _parser() -> MarkdownIt:
    # What stands inside a line is not needed, and parsing it takes most of the time.
    return MarkdownIt("commonmark").enable("table").disable("inline")


def blocks(text: str) -> list[Block]:
    """The blocks of a Markdown text, in order. Front matter is left out."""
    lines = _line_starts(text)
    found: list[Block] = []
    headings: list[tuple[int, str]] = []
    head: tuple[str, ...] = ()
    lead = ""
    depth = 0
    kind = "paragraph"
    begin = _front_matter(text)
    tokens = _parser().parse(text[begin:])
    skipped = len(_LINE_END.findall(text[:begin]))
    for index, token in enumerate(tokens):
        kind, depth = _entered(token, kind, depth)
        if token.type == "thead_open":
            head = tuple(_cells(tokens, index))
        if token.type == "tr_open" and tokens[index - 1].type != "thead_open":
            found.append(_block("row", token, lines, skipped, text, headings, head=head))
        if token.type == "bullet_list_open" or token.type == "ordered_list_open":
            lead = _lead_of(found, text) if depth == 1 else lead
        if token.type not in _LEAVES or token.map is None:
            continue
        if token.type in ("fence", "code_block", "html_block"):
            found.append(_block("code", token, lines, skipped, text, headings))
        elif kind == "heading":
            level = int(tokens[index - 1].tag[1])
            headings = [each for each in headings if each[0] < level]
            found.append(_block("heading", token, lines, skipped, text, headings))
            headings.append((level, token.content.strip()[:_MOST_HEADING]))
        elif kind != "table":
            is_item = depth > 0
            block = _block(
                "item" if is_item else "paragraph",
                token,
                lines,
                skipped,
                text,
                headings,
                lead=lead if is_item else "",
            )
            found.append(block)
    return found


def _entered(token: Token, kind: str, depth: int) -> tuple[str, int]:
    """What the next text belongs to, and in how many lists it stands."""
    if token.type in ("bullet_list_open", "ordered_list_open"):
        return kind, depth + 1
    if token.type in ("bullet_list_close", "ordered_list_close"):
        return kind, depth - 1
    if token.type == "heading_open":
        return "heading", depth
    if token.type == "table_open":
        return "table", depth
    if token.type in ("heading_close", "table_close"):
        return "paragraph", depth
    return kind, depth


def _cells(tokens: list[Token], index: int) -> list[str]:
    cells = []
    for token in tokens[index:]:
        if token.type == "thead_close":
            break
        if token.type == "inline":
            cells.append(token.content.strip()[:_MOST_COLUMN])
    return cells


def _lead_of(found: list[Block], text: str) -> str:
    """The sentence that ends with a colon before a list: what its items are about."""
    if not found or found[-1].kind not in ("paragraph", "item"):
        return ""
    start, end = found[-1].start, found[-1].end
    before = text[max(start, end - _MOST_LEAD) : end].strip()
    return before if before.endswith((":", "：")) else ""


def _block(
    kind: str,
    token: Token,
    lines: list[int],
    skipped: int,
    text: str,
    headings: list[tuple[int, str]],
    *,
    lead: str = "",
    head: tuple[str, ...] = (),
) -> Block:
    assert token.map is not None
    start, end = lines[token.map[0] + skipped], lines[token.map[1] + skipped]
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return Block(kind, start, end, tuple(name for _, name in headings), lead, head)


def _line_starts(text: str) -> list[int]:
    """Where each line begins, and the end of the text for what goes on to it."""
    return [0, *(end.end() for end in _LINE_END.finditer(text)), len(text), len(text)]


def _front_matter(text: str) -> int:
    """Where the text begins behind a block of YAML at its head."""
    found = _FRONT_MATTER.match(text)
    return found.end() if found else 0
