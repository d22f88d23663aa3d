from typing import Any

import pytest

from backread.errors import UnreadableImport
from ingest.importers.librechat import LIBRECHAT
from tests.ingest.importers.parsing import (
    beside,
    elsewhere,
    line_of,
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
