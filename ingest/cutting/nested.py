"""Conversations whose messages lie inside one another, as LibreChat writes them when asked for a
recursive export: a reply is a child of what it answers, so a long chat is nested deeper than any
parser may follow. Such a file is flattened by its brackets alone, before it is parsed."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.cutting.wrapped import key_before
from ingest.json_stream import MAX_DEPTH, Brackets, Element, dump, load, split

_KEYS = (b'"conversationId"', b'"recursive"', b'"messages"')
_LISTS = ("messages", "children")
_BLANK = b" \t\r\n\xef\xbb\xbf"
_KEY_BYTES = 40
_PARENT = "parentMessageId"


class NestedMessagesCutter:
    """A file that is nested no deeper than others comes out as it is."""

    def claims(self, source: Source, head: bytes) -> bool:
        return head.lstrip(_BLANK).startswith(b"{") and all(key in head for key in _KEYS)

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        most = settings.conversation_max_bytes
        body = bytearray()
        for chunk in source.chunks():
            body += chunk
            if len(body) > most:
                yield Element(0, source.size, b"", too_large(settings))
                return
        for element in split([_flattened(bytes(body))], most):
            yield Element(element.index, source.size, element.body, element.problem)


NESTED_MESSAGES = NestedMessagesCutter()


@dataclass(slots=True)
class _Message:
    """A message that is being read: its pieces without its children, and where the next begins."""

    start: int
    place: int  # among all messages, parents first
    above: int | None
    pieces: list[bytes] = field(default_factory=list)


def _flattened(body: bytes) -> bytes:
    """The object with all messages in one list, each after its parent and without children; the
    same bytes when it is not too deep or its brackets do not match."""
    positions, depths, opens = Brackets().feed(body)
    if not len(depths) or int(np.max(depths)) <= MAX_DEPTH or int(depths[-1]) != 0:
        return body
    if int(np.min(depths)) < 0:
        return body
    lists: list[bool] = []  # of every open bracket, whether it is a list of messages
    open_messages: list[_Message] = []
    done: list[tuple[bytes, int | None]] = []
    top: list[bytes] = []  # the object around the list
    top_start = 0
    for at, is_open in zip(positions.tolist(), opens.tolist(), strict=True):
        inside = bool(lists) and lists[-1]
        if is_open:
            is_list = body[at] == ord("[") and _leads_to_messages(body, at, lists, open_messages)
            if is_list and open_messages:
                open_messages[-1].pieces.append(body[open_messages[-1].start : at] + b"[]")
            elif is_list:
                top.append(body[top_start:at])
            elif inside and body[at] == ord("{"):
                above = open_messages[-1].place if open_messages else None
                open_messages.append(_Message(at, len(done), above))
                done.append((b"", above))
            lists.append(is_list)
            continue
        was_list = lists.pop()
        if was_list and open_messages:
            open_messages[-1].start = at + 1
        elif was_list:
            top_start = at + 1
        elif lists and lists[-1] and open_messages:
            message = open_messages.pop()
            message.pieces.append(body[message.start : at + 1])
            done[message.place] = (b"".join(message.pieces), message.above)
    if not top:
        return body
    return top[0] + b"[" + b",".join(_linked(done)) + b"]" + body[top_start:]


def _leads_to_messages(
    body: bytes, at: int, lists: list[bool], open_messages: list[_Message]
) -> bool:
    """`messages` of the whole, or `children` of a message."""
    if len(lists) == 1:
        return key_before(body[max(0, at - _KEY_BYTES) : at]) == _LISTS[0]
    is_in_message = bool(open_messages) and len(lists) > 1 and lists[-2] and not lists[-1]
    return is_in_message and key_before(body[max(0, at - _KEY_BYTES) : at]) == _LISTS[1]


def _linked(messages: list[tuple[bytes, int | None]]) -> Iterator[bytes]:
    """Each message naming the one it lay in, where it does not do so itself."""
    ids: list[str] = []
    for body, above in messages:
        try:
            message = load(body)
        except ValueError:
            message = {}
        named = message.get("messageId")
        ids.append(named if isinstance(named, str) else "")
        parent = ids[above] if above is not None else ""
        if parent and not message.get(_PARENT):
            body = b'{"%s":%s,' % (_PARENT.encode(), dump(parent)) + body[1:]
        yield body
