"""Copies of a browser's own storage, whose values are the chats: TypingMind's cloud backup."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import orjson

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.cutting.wrapped import key_before
from ingest.importers import importer_for
from ingest.importers.base import dict_in
from ingest.json_stream import Brackets, Element, load, split

_CHAT = "CHAT_"
_STORE = "indexedDB"
_TEXT = re.compile(rb'"CHAT_[^"\\]{0,100}"\s{0,20}:\s{0,20}"')
_BLANK = b" \t\r\n\xef\xbb\xbf"
_LOOKED_AT_BYTES = 64 * 1024**2
_CHATS_LOOKED_AT = 5
_KEY_BYTES = 200
_STORE_DEPTH, _CHAT_DEPTH = 2, 3


class BrowserBackupCutter:
    """Chats that are objects are cut out one by one, however large the copy is. Where each value
    is JSON text, the copy is read at once, up to the limit of a conversation."""

    def claims(self, source: Source, head: bytes) -> bool:
        if not head.lstrip(_BLANK).startswith(b"{"):
            return False
        if b'"indexedDB"' not in head and b'"localStorage"' not in head:
            return False
        return _has_objects(source) or bool(_texts(source, _LOOKED_AT_BYTES))

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        most = settings.conversation_max_bytes
        chats = _texts(source, most)
        for index, chat in enumerate(chats):
            yield Element(index, source.size * (index + 1) // len(chats), orjson.dumps(chat))
        if chats:
            return
        if not _has_objects(source):
            yield Element(0, source.size, b"", too_large(settings))
        yield from split(_objects(source.chunks()), most)


BROWSER_BACKUP = BrowserBackupCutter()


def _has_objects(source: Source) -> bool:
    elements = split(_objects(source.chunks()), _LOOKED_AT_BYTES)
    return any(map(_is_chat, islice(elements, _CHATS_LOOKED_AT)))


def _is_chat(element: Element) -> bool:
    try:
        return not element.problem and importer_for(load(element.body)) is not None
    except ValueError:
        return False


def _objects(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of the objects that chats are, one after the other, a line end behind each."""
    scanner = Brackets()
    is_in_store = is_in_chat = False
    tail = b""  # the end of what came before, which may hold a key
    for chunk in chunks:
        positions, depths, opens = scanner.feed(chunk)
        near = depths <= _CHAT_DEPTH
        start = 0
        for at, depth, is_open in zip(
            positions[near].tolist(), depths[near].tolist(), opens[near].tolist(), strict=True
        ):
            if is_open and depth in (_STORE_DEPTH, _CHAT_DEPTH):
                before = chunk[max(0, at - _KEY_BYTES) : at]
                key = key_before(tail + before if at < _KEY_BYTES else before)
                if depth == _STORE_DEPTH:
                    is_in_store = key == _STORE
                elif is_in_store and key.startswith(_CHAT):
                    is_in_chat, start = True, at
            elif not is_open and is_in_chat and depth == _STORE_DEPTH:
                yield chunk[start : at + 1] + b"\n"
                is_in_chat = False
            elif not is_open and depth < _STORE_DEPTH:
                is_in_store = False
        if is_in_chat:
            yield chunk[start:]
        tail = (tail + chunk)[-_KEY_BYTES:]


def _texts(source: Source, most: int) -> list[Any]:
    """The chats of a copy in which at least one of them is JSON text; none of another one."""
    if not _may_hold_texts(source):
        return []
    element = next(split(source.chunks(), most), None)
    try:
        whole = load(element.body) if element and not element.problem else None
    except ValueError:
        return []
    stored = dict_in(dict_in(whole).get(_STORE))
    values = [value for key, value in stored.items() if key.startswith(_CHAT)]
    has_text = any(isinstance(value, str) for value in values)
    return [_value(value) for value in values] if has_text else []


def _may_hold_texts(source: Source) -> bool:
    """Without parsing: most copies hold objects, and are not read at once."""
    tail = b""
    for chunk in source.chunks():
        if _TEXT.search(tail + chunk):
            return True
        tail = (tail + chunk)[-_KEY_BYTES:]
    return False


def _value(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
