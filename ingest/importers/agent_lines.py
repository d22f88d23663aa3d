"""Lines of coding agents that have no importer of their own: each holds one message among what
the agent notes about it. They are brought into the shape of a plain message."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ingest.importers.base import Raw, dict_in, dicts_in, text_in

_TAGGED = re.compile(r"\s*<([A-Za-z][\w:-]{0,60})>.*</\1>\s*", re.DOTALL)


def plain_messages(lines: Sequence[Any]) -> list[Any]:
    """The messages in the lines; the lines themselves when none holds a message."""
    nested = [line for line in dicts_in(list(lines)) if _is_nested(line)]
    return [_plain(line) for line in nested] if nested else list(lines)


def other_lines(lines: Sequence[Any]) -> Counter[str]:
    """Of lines that hold messages, how many others stand between them, by their type."""
    found = dicts_in(list(lines))
    if not any(map(_is_nested, found)):
        return Counter()
    return Counter(f"line:{line.get('type')}" for line in found if not _is_nested(line))


def _is_nested(line: Raw) -> bool:
    message = dict_in(line.get("message"))
    said = message.get("content", message.get("parts"))
    return isinstance(message.get("role"), str) and isinstance(said, str | list)


def _plain(line: Raw) -> dict[str, Any]:
    """What is marked with a `subtype` is the agent's own note, in whoever's name it stands."""
    message = dict_in(line.get("message"))
    content = message.get("content")
    if "content" not in message:
        content = [_block(part) for part in dicts_in(message.get("parts"))]
    return {
        "role": "system" if text_in(line.get("subtype")) else message["role"],
        "content": content,
        "timestamp": line.get("timestamp", message.get("timestamp")),
        "model": message.get("model", line.get("model")),
    }


def _block(part: Raw) -> dict[str, Any]:
    """A part of Gemini's API as a block."""
    text = text_in(part.get("text"))
    if "functionCall" in part:
        call = dict_in(part["functionCall"])
        return {"type": "tool_call", "name": call.get("name"), "arguments": call.get("args")}
    if "functionResponse" in part:
        answer = dict_in(part["functionResponse"])
        return {
            "type": "tool_result",
            "content": answer.get("response"),
            "toolName": answer.get("name"),
        }
    if part.get("thought") is True:
        return {"type": "thinking", "thinking": text}
    if text or "text" in part:
        # A part that is one element from end to end was added by the agent.
        return {"type": "injected" if _TAGGED.fullmatch(text) else "text", "text": text}
    return {"type": next(iter(part), "")}
