"""Lists whose elements are messages: of chats that each message names, or of one chat."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.cutting.grouping import grouped
from ingest.importers import importer_for
from ingest.importers.base import text_in
from ingest.importers.envelopes import ROWS_KEY
from ingest.importers.lechat import is_lechat_message
from ingest.importers.transcript import is_plain_message
from ingest.json_stream import Element, load, split

_LOOKED_AT = 60


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


class PlainListCutter:
    """A list of messages that name no chat is one conversation. Guarantees one element."""

    def claims(self, source: Source, head: bytes) -> bool:
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            return False
        first = [message for message, _ in islice(_messages(source, 1024**2), _LOOKED_AT)]
        if not first or not is_plain_message(first[0]) or importer_for(first[0]) is not None:
            return False
        return importer_for({ROWS_KEY: first}) is not None

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        most = settings.conversation_max_bytes
        parts: list[bytes] = []
        size = 0
        for _, body in _messages(source, most):
            parts.append(body)
            size += len(body) + 1
            if size > most:
                yield Element(0, source.size, b"", too_large(settings))
                return
        yield Element(0, source.size, b'{"%s":[%s]}' % (ROWS_KEY.encode(), b",".join(parts)))


MESSAGE_LIST = MessageListCutter()
PLAIN_LIST = PlainListCutter()


def _messages(source: Source, most: int) -> Iterator[tuple[dict[str, Any], bytes]]:
    for element in split(source.chunks(), most):
        try:
            message = load(element.body) if not element.problem else None
        except ValueError:
            continue
        if isinstance(message, dict):
            yield message, element.body
