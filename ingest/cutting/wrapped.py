"""Lists of conversations inside one object, as `{"conversations": [...], "projects": [...]}`.

The object as a whole may be larger than any conversation may be, so the list is found while the
text goes by, and only its elements are cut out.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.importers import importer_for
from ingest.json_stream import Brackets, Element, load, split

# Keys that lead to a platform's list.
LISTS: frozenset[tuple[str, ...]] = frozenset(
    {("conversations",), ("histories", "histories"), ("history",)}
)
_DEEPEST = 2  # keys on such a way
_ELEMENTS_LOOKED_AT = 5
_ELEMENT_LOOKED_AT_BYTES = 64 * 1024**2
_KEY_BYTES = 100
_BLANK = b" \t\r\n\xef\xbb\xbf"


class WrappedListCutter:
    def claims(self, source: Source, head: bytes) -> bool:
        if not head.lstrip(_BLANK).startswith(b"{"):
            return False
        elements = split(inside_lists(source.chunks()), _ELEMENT_LOOKED_AT_BYTES)
        return any(map(_is_conversation, islice(elements, _ELEMENTS_LOOKED_AT)))

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        return split(inside_lists(source.chunks()), settings.conversation_max_bytes)


WRAPPED_LIST = WrappedListCutter()


def _is_conversation(element: Element) -> bool:
    if element.problem:
        return False
    try:
        return importer_for(load(element.body)) is not None
    except ValueError:
        return False


def inside_lists(
    chunks: Iterable[bytes], lists: frozenset[tuple[str, ...]] = LISTS
) -> Iterator[bytes]:
    """The bytes of those lists of the first object that the keys in `lists` lead to, brackets
    included. Ends with the object."""
    scanner = Brackets()
    keys: list[str] = []  # on the way to where we are, at most as deep as `lists` go
    inside = 0  # depth of the list that is passed on, or 0
    tail = b""  # the end of what came before, which may hold a key
    for chunk in chunks:
        positions, depths, opens = scanner.feed(chunk)
        near = depths <= _DEEPEST + 2
        start = 0
        for at, depth, is_open in zip(
            positions[near].tolist(), depths[near].tolist(), opens[near].tolist(), strict=True
        ):
            if inside:
                if not is_open and depth < inside:
                    yield chunk[start : at + 1]
                    inside = 0
            elif is_open and 2 <= depth <= _DEEPEST + 1:
                before = chunk[max(0, at - _KEY_BYTES) : at]
                key = key_before(tail + before if at < _KEY_BYTES else before)
                del keys[depth - 2 :]
                keys += [""] * (depth - 2 - len(keys)) + [key]
                if chunk[at] == ord("[") and tuple(keys) in lists:
                    inside, start = depth, at
            if depth <= 0:
                return
        if inside:
            yield chunk[start:]
        tail = (tail + chunk)[-_KEY_BYTES:]


def key_before(text: bytes) -> str:
    """The key in `… "key" :`, or "" where there is none."""
    text = text.rstrip(_BLANK)
    if not text.endswith(b":"):
        return ""
    text = text[:-1].rstrip(_BLANK)
    if not text.endswith(b'"'):
        return ""
    return text[:-1].rsplit(b'"', 1)[-1].decode("utf-8", "replace")
