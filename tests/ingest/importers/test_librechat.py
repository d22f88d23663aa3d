import json
import sys
from typing import Any

import pytest

from backread.errors import UnreadableImport
from ingest.importers.librechat import LIBRECHAT
from tests.ingest.importers.parsing import (
    beside,
    elsewhere,
    line_of,
    parse_bytes,
    parse_file,
    parse_json,
    said,
)


def _message(own: str, text: str, **more: Any) -> dict[str, Any]:
    return {"messageId": own, "text": text, "isCreatedByUser": False} | more


def test_nested_branches_are_a_tree_with_the_newest_shown() -> None:
    (parsed,) = parse_file("librechat", "nested.json")
    assert (parsed.external_id, parsed.title) == ("li-1", "Tides")
    assert parsed.model == "gpt-4o"
    assert said(parsed) == [
        "user: Why two tides?",
        "assistant: The moon pulls.",
        "user: And the sun?",
    ]
    assert elsewhere(parsed) == ["Because."]
    assert line_of(parsed)[1].author == "GPT-4o"
    assert beside(parsed) == [
        ("reasoning", "", "Moon."),
        ("tool_call", "calc", "{}"),
        ("tool_result", "calc", "2"),
    ]
    assert [(a.name, a.size_bytes) for a in parsed.messages[0].attachments] == [("sea.png", 7)]
    assert parsed.news == {}


@pytest.mark.parametrize("root", [None, "00000000-0000-0000-0000-000000000000"])
def test_flat_messages_go_by_their_parents(root: str | None) -> None:
    messages = [
        _message("b", "Two", parentMessageId="a"),
        _message("a", "One", parentMessageId=root, isCreatedByUser=True),
    ]
    (parsed,) = parse_json({"conversationId": "x", "messages": messages})
    assert said(parsed) == ["user: One", "assistant: Two"]


def test_messages_without_parents_are_in_order_and_unknown_parts_are_news() -> None:
    messages = [
        _message("", "One", sender="user"),
        _message("", "", content=[{"type": "hologram"}, {"type": "text", "text": "Two"}]),
    ]
    (parsed,) = parse_json({"conversationId": "x", "messages": messages})
    assert said(parsed) == ["user: One", "assistant: Two"]
    assert parsed.news == {"part:hologram": 1}
    with pytest.raises(UnreadableImport):
        LIBRECHAT.parse({"conversationId": None, "messages": []})


def _nested(count: int, *, with_parents: bool) -> dict[str, Any]:
    """A chat of `count` messages, each inside the one before, with one branch off the first."""
    inner: list[dict[str, Any]] = []
    for number in range(count, 0, -1):
        parent = {"parentMessageId": f"m{number - 1}"} if with_parents and number > 1 else {}
        message = _message(f"m{number}", f'"{number}" [{{', createdAt=number, **parent)
        inner = [message | {"isCreatedByUser": number % 2 == 1, "children": inner, "z": [{}]}]
    inner[0]["children"].append(_message("side", "a side", children=[]))
    start = {"conversationId": "deep", "recursive": True, "title": "Deep"}
    return start | {"messages": inner, "endpoint": "x"}


@pytest.mark.parametrize("with_parents", [True, False])
@pytest.mark.parametrize("count", [3, 120, 900])
def test_a_chat_nested_deeper_than_a_parser_may_go_is_read_whole(
    count: int, with_parents: bool
) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)  # for writing it; reading must do without
    try:
        body = json.dumps(_nested(count, with_parents=with_parents)).encode()
    finally:
        sys.setrecursionlimit(limit)
    (parsed,) = parse_bytes(body)
    assert (parsed.external_id, parsed.title) == ("deep", "Deep")
    assert [m.text for m in line_of(parsed)] == [f'"{n}" [{{' for n in range(1, count + 1)]
    assert elsewhere(parsed) == ["a side"]
    assert parsed.extra == {"endpoint": "x"}


@pytest.mark.parametrize("end", [b"", b"}", b"]" * 600, b'"'])
def test_a_deep_chat_that_is_cut_off_fails_in_words(end: bytes) -> None:
    start = b'{"conversationId":"x","recursive":true,"messages":['
    deep = start + b'{"messageId":"a","children":[' * 300 + end
    with pytest.raises(AssertionError, match=r"nested more than|ends in the middle|damaged"):
        parse_bytes(deep)
