"""Cuts what a platform remembers, a Markdown text, into statements that a person can judge.

The unit is what can be kept or dismissed alone: a list item with all that hangs on it, or a
paragraph. A paragraph is not cut into sentences, because they refer to each other ("She also …").
Headings are not statements; they say what the ones below them are about.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What a memory may have. Only what is pasted into a memory by mistake is longer.
MAX_CHARACTERS = 10_000

_HEADING = re.compile(r"#{1,6}\s+(?P<text>\S.*)")
_BOLD_LINE = re.compile(r"(?:\*\*|__)(?P<text>[^*_].*?)(?:\*\*|__)\s*:?")
_ITEM = re.compile(r"(?:[-*+•‣]|\d{1,3}[.)])\s+(?P<text>\S.*)")
_LONGEST_LEAD = 80
_RULE = re.compile(r"(?:[-*_]\s*){3,}")
_FRONT_MATTER = re.compile(r"---\n.*?\n---\n", re.DOTALL)
_TAG = re.compile(r"\[(?P<tag>stated|inferred)\]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """`heading` is the nearest one above; `tag` is what the platform says about where it has the
    statement from: "stated" by the person, or "inferred"."""

    text: str
    heading: str = ""
    tag: str = ""


def statements_in(markdown: str) -> Iterator[Statement]:
    """All statements in their order; nothing of the text is left out but headings and rules."""
    heading = ""
    for block in _blocks(_FRONT_MATTER.sub("", markdown, count=1)):
        title = _heading_of(block)
        if title:
            heading = title
            continue
        found = _TAG.match(block)
        text = block[found.end() :] if found else block
        for piece in _fitting(text):
            yield Statement(piece, heading, found["tag"].lower() if found else "")


def _blocks(markdown: str) -> Iterator[str]:
    """Headings, list items and paragraphs. What is indented below an item belongs to it."""
    block: list[str] = []
    indent: int | None = None  # of the item that is open, if one is
    for line in markdown.split("\n"):
        bare = line.strip()
        depth = len(line) - len(line.lstrip())
        belongs = indent is not None and depth > indent
        item = None if belongs else _ITEM.match(bare)
        if not bare:
            if indent is None:
                yield from _block(block)
                block = []
        elif belongs:
            block.append(line.rstrip())
        elif _RULE.fullmatch(bare):
            yield from _block(block)
            block, indent = [], None
        elif item is not None:
            yield from _block(block)
            block, indent = [item["text"]], depth
        elif indent is not None or _is_heading(bare) or (block and _is_heading(block[0])):
            yield from _block(block)
            block, indent = [bare], None
        else:
            block.append(bare)
    yield from _block(block)


def _block(lines: list[str]) -> Iterator[str]:
    text = "\n".join(lines).strip()
    if text:
        yield text


def _is_heading(line: str) -> bool:
    return bool(_HEADING.fullmatch(line) or _BOLD_LINE.fullmatch(line))


def _heading_of(block: str) -> str:
    """What a heading says; also a short line that ends in a colon, which leads to a list."""
    if "\n" in block:
        return ""
    found = _HEADING.fullmatch(block) or _BOLD_LINE.fullmatch(block)
    if found:
        return found["text"].rstrip("# ").strip("*_ :")
    return block[:-1].strip() if block.endswith(":") and len(block) <= _LONGEST_LEAD else ""


def _fitting(text: str) -> Iterator[str]:
    """The text in pieces that a memory can hold, cut between lines or words where it can be."""
    while len(text) > MAX_CHARACTERS:
        cut = max(text.rfind("\n", 0, MAX_CHARACTERS), text.rfind(". ", 0, MAX_CHARACTERS) + 1)
        cut = cut if cut > 0 else text.rfind(" ", 0, MAX_CHARACTERS)
        cut = cut if cut > 0 else MAX_CHARACTERS
        yield text[:cut].strip()
        text = text[cut:].strip()
    if text:
        yield text
