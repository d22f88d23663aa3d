"""Cuts JSON of any size into the conversations it holds, without parsing it.

A text is a top-level list, one object, or objects one after the other (NDJSON). Each element of
the list, or each object, comes out as its raw bytes. Memory stays at one element; depth and size
are capped before anything is parsed, because a parser meets hostile nesting too late.

The scan knows strings and escapes. It works on whole chunks with numpy: the positions of quotes
that are not escaped tell which brackets lie outside strings, and their running sum is the depth.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

CHUNK_BYTES = 256 * 1024  # stays in the processor's cache through the passes over it
MAX_DEPTH = 256

_QUOTE = 0x22
_BACKSLASH = 0x5C
_CASE_BIT = 0x20  # "[" | 0x20 == "{" and "]" | 0x20 == "}"
_OPEN = 0x7B
_CLOSE = 0x7D
_BLANK = b" \t\r\n,\x00\x1e\xef\xbb\xbf"  # also NUL, record separator and BOM
_MOST_DIGITS = 400  # then it is larger than any float, too
_GAP_KEPT = 200  # bytes of stray text kept to describe it

Positions = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Element:
    """One element, or, when `problem` is set, why there is none (in words; `body` is empty).

    Out of Backread's own archive it comes with what that knows: the slug of the importer that
    reads it and when it was captured, or that it is a record beside conversations.
    """

    index: int  # 0, 1, 2 … in the stream, problems counted
    end_offset: int  # bytes of the stream up to the element's end
    body: bytes
    problem: str = ""
    importer: str = ""
    captured_at: datetime | None = None
    is_record: bool = False


class Brackets:
    """Finds the brackets of a text that comes in chunks, and how deep each lies."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = 0
        self._escape_pending = False

    @property
    def is_in_string(self) -> bool:
        return bool(self._in_string)

    def feed(self, chunk: bytes) -> tuple[Positions, Positions, NDArray[np.bool_]]:
        """Those outside strings: where, the depth after each, and which of them open."""
        data = np.frombuffer(chunk, np.uint8)
        quotes: Positions = np.flatnonzero(data == _QUOTE)
        if self._escape_pending or b"\\" in chunk:
            quotes = self._unescaped(data, quotes)
        folded = data | _CASE_BIT
        positions: Positions = np.flatnonzero((folded == _OPEN) | (folded == _CLOSE))
        inside = (np.searchsorted(quotes, positions) + self._in_string) & 1
        positions = positions[inside == 0]
        opens = folded[positions] == _OPEN
        depths = np.cumsum(np.where(opens, 1, -1)) + self._depth
        if len(depths):
            self._depth = int(depths[-1])
        self._in_string = (self._in_string + len(quotes)) & 1
        return positions, depths, opens

    def _unescaped(self, data: NDArray[np.uint8], quotes: Positions) -> Positions:
        """The quotes that an even run of backslashes, or none, stands before."""
        slashes = np.flatnonzero(data == _BACKSLASH)
        order = np.arange(len(slashes))
        starts = np.maximum.accumulate(np.where(np.diff(slashes, prepend=-2) != 1, order, 0))
        runs = order - starts + 1  # backslashes up to and with each, in its run
        was_pending, self._escape_pending = self._escape_pending, False
        if len(slashes):
            if was_pending and slashes[0] == 0:
                runs[starts == 0] += 1
            if slashes[-1] == len(data) - 1:
                self._escape_pending = bool(runs[-1] & 1)
        if not len(quotes):
            return quotes
        follows = data[np.maximum(quotes - 1, 0)] == _BACKSLASH
        escaped = np.zeros(len(quotes), np.bool_)
        if len(slashes):
            escaped[follows] = runs[np.searchsorted(slashes, quotes[follows] - 1)] & 1 == 1
        if quotes[0] == 0:
            escaped[0] = was_pending
        return quotes[~escaped]


class Splitter:
    """Feed it chunks in order, then `finish()`. After that `is_complete` tells whether the text
    ended where it should."""

    def __init__(self, max_element_bytes: int) -> None:
        self._max_bytes = max_element_bytes
        self._offset = 0  # of the current chunk's first byte
        self._scanner = Brackets()
        self._base = 0  # depth that elements lie at: 1 inside a list, 0 outside
        self._parts: list[bytes] | None = None  # of the open element
        self._size = 0
        self._is_too_deep = False
        self._gap = b""
        self._count = 0
        self._is_dead = False
        self.is_complete = False

    def feed(self, chunk: bytes) -> Iterator[Element]:
        """The elements that this chunk completes."""
        if self._is_dead or not chunk:
            return
        positions, depths, opens = self._scanner.feed(chunk)
        # A bracket can only start or end an element, or a list, near the top.
        events = np.flatnonzero(np.where(opens, depths <= 2, depths <= 1))
        deep = positions[depths > MAX_DEPTH + 1]  # one for the list around
        start = 0  # where the part of the chunk not yet dealt with begins
        for event in events.tolist():
            at, depth, is_open = int(positions[event]), int(depths[event]), bool(opens[event])
            if self._parts is None and is_open:
                yield from self._gap_before(chunk[start:at])
                start = at
                if depth == 1 and self._base == 0 and chunk[at] == ord("["):
                    self._base = 1
                    start = at + 1
                elif depth == self._base + 1:
                    self._parts, self._size, self._is_too_deep = [], 0, False
            elif self._parts is not None and not is_open and depth == self._base:
                self._add(chunk[start : at + 1])
                self._note_depth(deep, start, at)
                yield self._finish_element(self._offset + at + 1)
                start = at + 1
            elif self._parts is None and not is_open:
                yield from self._gap_before(chunk[start:at])
                start = at + 1
                if depth < 0:
                    yield self._die(at)
                    return
                self._base = 0
        self._keep_rest(chunk, start, deep)

    def finish(self) -> Iterator[Element]:
        """What the end of the stream says about the last element."""
        if self._is_dead:
            return
        if self._parts is not None:
            self._parts = None
            yield self._problem("The file ends in the middle of this conversation.", self._offset)
        else:
            yield from self._gap_before(b"")
            self.is_complete = self._base == 0 and not self._scanner.is_in_string

    def _keep_rest(self, chunk: bytes, start: int, deep: Positions) -> None:
        if self._parts is not None:
            self._add(chunk[start:])
            self._note_depth(deep, start, len(chunk))
        elif len(self._gap) < _GAP_KEPT:
            self._gap += chunk[start:].strip(_BLANK)[:_GAP_KEPT]
        self._offset += len(chunk)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._parts is None:
            return
        if self._size > self._max_bytes:
            self._parts.clear()
        else:
            self._parts.append(piece)

    def _note_depth(self, deep: Positions, start: int, end: int) -> None:
        if len(deep) and bool(np.any((deep >= start) & (deep <= end))):
            self._is_too_deep = True

    def _finish_element(self, end_offset: int) -> Element:
        parts, self._parts = self._parts or [], None
        if self._size > self._max_bytes:
            megabytes = self._max_bytes / 1024**2
            return self._problem(
                f"It is larger than {megabytes:.0f} MB, the most one conversation may have.",
                end_offset,
            )
        if self._is_too_deep:
            return self._problem(f"It is nested more than {MAX_DEPTH} levels deep.", end_offset)
        element = Element(self._count, end_offset, b"".join(parts))
        self._count += 1
        return element

    def _gap_before(self, piece: bytes) -> Iterator[Element]:
        """Only blanks and commas may stand between elements."""
        stray = (self._gap + piece.strip(_BLANK)[:_GAP_KEPT])[:_GAP_KEPT]
        self._gap = b""
        if stray:
            shown = stray[:40].decode("utf-8", "replace")
            yield self._problem(f"Not a conversation: {shown}", self._offset)

    def _die(self, at: int) -> Element:
        self._is_dead = True
        return self._problem(
            f"The JSON is damaged at byte {self._offset + at}; nothing after it can be read.",
            self._offset + at,
        )

    def _problem(self, words: str, end_offset: int) -> Element:
        element = Element(self._count, end_offset, b"", words)
        self._count += 1
        return element


def split(chunks: Iterable[bytes], max_element_bytes: int) -> Iterator[Element]:
    """All elements of a stream, in order. Reads only as far as the caller iterates."""
    splitter = Splitter(max_element_bytes)
    for chunk in chunks:
        yield from splitter.feed(chunk)
    yield from splitter.finish()


def load(body: bytes) -> Any:
    """Parses one element. Raises ValueError, in words, when it is not JSON.

    orjson refuses lone surrogates and NaN, which real exports hold; the standard library reads
    them, and `ingest.normalise` takes them out of the text. Depth is already capped.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            return json.loads(body.decode("utf-8", "replace"), parse_int=_whole_number)
        except json.JSONDecodeError as error:
            raise ValueError(f"It is not valid JSON ({error.msg}, byte {error.pos}).") from error


def load_inner(body: bytes) -> Any:
    """Parses a JSON text that was found inside of another. Raises ValueError, in words, also when
    it is nested too deep to be written and parsed again."""
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        problem = next((each.problem for each in split([body], len(body)) if each.problem), "")
        if problem:
            raise ValueError(problem)
    return load(body)


def dump(value: Any) -> bytes:
    """The value as JSON that `load` makes the same of, with all that orjson refuses to write: lone
    surrogates, whole numbers of more than 64 bits, the deepest nesting."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode()


def _whole_number(digits: str) -> int | float:
    """Python refuses to read very long ones, which would cost all that stands around them."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)
