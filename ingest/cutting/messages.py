"""A list whose elements are messages: what makes them conversations is the chat they name."""

from collections.abc import Iterator
from typing import Any

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.grouping import grouped
from ingest.importers.base import text_in
from ingest.importers.envelopes import ROWS_KEY
from ingest.importers.lechat import is_lechat_message
from ingest.json_stream import Element, load, split


class MessageListCutter:
    def claims(self, source: Source, head: bytes) -> bool:
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            return False
        first = next(_messages(source, 1024**2), None)
        return first is not None and is_lechat_message(first[0])

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        records = (
            (text_in(message.get("chatId")), body)
            for message, body in _messages(source, settings.conversation_max_bytes)
        )
        return grouped(records, ROWS_KEY.encode(), source.size, settings)


MESSAGE_LIST = MessageListCutter()


def _messages(source: Source, most: int) -> Iterator[tuple[dict[str, Any], bytes]]:
    for element in split(source.chunks(), most):
        try:
            message = load(element.body) if not element.problem else None
        except ValueError:
            continue
        if isinstance(message, dict):
            yield message, element.body
