"""A record's content cut into the parts that are embedded and found."""

import re
from collections.abc import Iterator

from backread.store.repositories.record_chunks import NewChunk
from backread.tokens import estimate_tokens
from recall.folders.markdown import Block, blocks

CHUNK_TOKENS = 200  # the packaged model reads 256; names and headings take the rest
_SHOWN_CHARACTERS = 1200  # of a record that is found by its description
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_MAX_LEAD = 300
_HEADING_TOKENS = 70  # what is longer is text that only looks like a heading


def chunks(name: str, content: str, *, folder_description: str, description: str) -> list[NewChunk]:
    """The parts of a record, in order, each under `CHUNK_TOKENS` tokens and at natural borders.

    With a description of its own the record is one part, and the description is embedded instead
    of the content. Otherwise each part is embedded below the folder's description, the record's
    name and the headings it stands under. No part for a record without text.
    """
    if description.strip():
        return [NewChunk(description.strip(), 0, min(len(content), _SHOWN_CHARACTERS))]
    found = []
    for start, end, headings in _parts(content):
        above = [folder_description.strip(), " › ".join([name, *headings])[:_MAX_LEAD]]
        text = "\n".join([*(each for each in above if each), content[start:end]])
        found.append(NewChunk(text, start, end))
    return found


def _parts(content: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Neighbouring blocks together, as long as they are under the same heading and fit."""
    start = end = tokens = 0
    under: tuple[str, ...] | None = None
    for block in blocks(content):
        size = estimate_tokens(content[block.start : block.end])
        if block.kind == "heading" and size <= _HEADING_TOKENS:
            if under is not None:
                yield start, end, under
            under = None
            continue
        if under == block.headings and tokens + size <= CHUNK_TOKENS:
            end, tokens = block.end, tokens + size
            continue
        if under is not None:
            yield start, end, under
        if size > CHUNK_TOKENS:
            *whole, (start, end) = _cut(content, block)
            for first, last in whole:
                yield first, last, block.headings
            size = estimate_tokens(content[start:end])
        else:
            start, end = block.start, block.end
        under, tokens = block.headings, size
    if under is not None:
        yield start, end, under


def _cut(content: str, block: Block) -> list[tuple[int, int]]:
    """A long block in pieces: at sentences, where there are none at words, else anywhere."""
    pieces: list[tuple[int, int]] = []
    start = end = block.start
    for stop in _stops(content, block):
        if end > start and estimate_tokens(content[start:stop]) > CHUNK_TOKENS:
            pieces.append((start, end))
            start = end
        end = stop
    pieces.append((start, end))
    return pieces


def _stops(content: str, block: Block) -> Iterator[int]:
    at = block.start
    borders = [each.end() for each in _SENTENCE.finditer(content, block.start, block.end)]
    for border in [*borders, block.end]:
        # A token is at least one character in the estimate, so this many always fit.
        while estimate_tokens(content[at:border]) > CHUNK_TOKENS:
            space = content.rfind(" ", at + CHUNK_TOKENS // 2, at + CHUNK_TOKENS)
            at = space + 1 if space > 0 else at + CHUNK_TOKENS
            yield at
        at = border
        yield at
