"""Exports that list chats and folders side by side: each chat gets its folder's name along."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.wrapped import inside_lists
from ingest.importers import importer_for
from ingest.importers.base import text_in
from ingest.importers.envelopes import FOLDER_KEY, with_key
from ingest.json_stream import Element, load, split

_CHATS_LOOKED_AT = 5
_FOLDERS_KEPT = 100_000
_FOLDER_BYTES = 1024**2
_BLANK = b" \t\r\n\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FolderedListCutter:
    """`chats` and `folders` are the keys that lead to the lists; `link` is the chat's key that
    names its folder."""

    chats: tuple[str, ...]
    folders: tuple[str, ...]
    link: str

    def claims(self, source: Source, head: bytes) -> bool:
        if not head.lstrip(_BLANK).startswith(b"{") or f'"{self.chats[0]}"'.encode() not in head:
            return False
        chats = _values(source, self.chats, 64 * 1024**2)
        return any(importer_for(chat) is not None for chat in islice(chats, _CHATS_LOOKED_AT))

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        names = {
            text_in(folder.get("id")): text_in(folder.get("title")) or text_in(folder.get("name"))
            for folder in islice(_values(source, self.folders, _FOLDER_BYTES), _FOLDERS_KEPT)
        }
        chats = inside_lists(source.chunks(), frozenset({self.chats}))
        for element in split(chats, settings.conversation_max_bytes):
            yield self._named(element, names)

    def _named(self, element: Element, names: dict[str, str]) -> Element:
        if element.problem or not names:
            return element
        try:
            chat = load(element.body)
        except ValueError:
            return element
        name = names.get(text_in(chat.get(self.link))) if isinstance(chat, dict) else ""
        if not name:
            return element
        body = with_key(element.body, FOLDER_KEY, name)
        return Element(element.index, element.end_offset, body)


TYPINGMIND_CHATS = FolderedListCutter(("data", "chats"), ("data", "folders"), "folderID")
CHATBOTUI_CHATS = FolderedListCutter(("history",), ("folders",), "folderId")


def _values(source: Source, keys: tuple[str, ...], most: int) -> Iterator[dict[str, Any]]:
    for element in split(inside_lists(source.chunks(), frozenset({keys})), most):
        try:
            value = load(element.body) if not element.problem else None
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
