"""Format news in words: what an export held that this release does not know."""

from collections.abc import Mapping
from typing import Final

_WORDS: Final[Mapping[str, str]] = {
    "role": "a speaker called “{}”",
    "sender": "a speaker called “{}”",
    "author": "a speaker called “{}”",
    "block": "a kind of content called “{}”",
    "part": "a kind of content called “{}”",
    "fragment": "a kind of content called “{}”",
    "chunk": "a kind of content called “{}”",
    "content_type": "a kind of content called “{}”",
    "type": "a kind of entry called “{}”",
    "line": "a kind of entry called “{}”",
    "event": "a kind of entry called “{}”",
    "item": "a kind of entry called “{}”",
    "bubble": "a kind of entry called “{}”",
    "response": "a kind of entry called “{}”",
    "operation": "an operation called “{}”",
    "output": "the output of a tool called “{}”",
}
_WHOLE: Final[Mapping[str, str]] = {
    "line:not an object": "a line that is no entry",
    "line:unreadable": "a line that cannot be read",
    "line:none": "an entry without a kind",
    "line:empty": "an empty entry",
    "message:repeated id": "a message with the id of another one",
    "message:empty": "an empty message",
    "messages:unreadable": "messages that cannot be read",
    "bubble:missing": "a message that is named but missing",
    "blob:unread": "a stored piece that is not understood",
    "turn:no candidates": "a turn without any text",
    "row:unknown verb": "a row that begins with an unknown word",
    "date:not understood": "a date that is not understood",
    "other": "further unknown kinds",
}


def news_in_words(key: str) -> str:
    """A key of a report's `news` as a phrase, such as: a kind of content called “hologram”."""
    if key in _WHOLE:
        return _WHOLE[key]
    kind, _, name = key.partition(":")
    words = _WORDS.get(kind)
    if words is None:
        return f"“{key}”"
    return words.format(name) if name not in {"", "none"} else words.split(" called")[0]
