"""Copies of a browser's own storage, whose values are the chats: TypingMind's cloud backup."""

from collections.abc import Iterator
from typing import Any

import orjson

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.importers.base import dict_in
from ingest.json_stream import Element, load, split

_CHAT = "CHAT_"
_BLANK = b" \t\r\n\xef\xbb\xbf"
_LOOKED_AT_BYTES = 64 * 1024**2


class BrowserBackupCutter:
    """The whole copy is one JSON object; it is read at once, up to the limit of a conversation."""

    def claims(self, source: Source, head: bytes) -> bool:
        if not head.lstrip(_BLANK).startswith(b"{"):
            return False
        if b'"indexedDB"' not in head and b'"localStorage"' not in head:
            return False
        return bool(_chats(source, _LOOKED_AT_BYTES))

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        chats = _chats(source, settings.conversation_max_bytes)
        if not chats:
            yield Element(0, source.size, b"", too_large(settings))
        for index, chat in enumerate(chats):
            yield Element(index, source.size * (index + 1) // len(chats), orjson.dumps(chat))


BROWSER_BACKUP = BrowserBackupCutter()


def _chats(source: Source, most: int) -> list[Any]:
    element = next(split(source.chunks(), most), None)
    try:
        whole = load(element.body) if element and not element.problem else None
    except ValueError:
        return []
    stored = dict_in(dict_in(whole).get("indexedDB"))
    return [_value(value) for key, value in stored.items() if key.startswith(_CHAT)]


def _value(value: Any) -> Any:
    """Some backups hold each value as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
