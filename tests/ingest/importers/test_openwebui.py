import json
from datetime import UTC, datetime

import pytest

from backread.errors import UnreadableImport
from ingest.importers import importer_for
from ingest.importers.openwebui import OPENWEBUI
from tests.ingest.importers.parsing import (
    EXPORTS,
    beside,
    elsewhere,
    line_of,
    parse_file,
    parse_json,
    said,
)


def test_the_line_to_the_current_message_is_shown() -> None:
    (parsed,) = parse_file("openwebui", "chats.json")
    assert (parsed.external_id, parsed.title) == ("ow-1", "Bees")
    assert (parsed.is_starred, parsed.is_archived) == (True, True)
    assert parsed.model == "qwen"
    assert parsed.created_at == datetime.fromtimestamp(1744577500, UTC)
    assert parsed.messages[0].created_at == datetime.fromtimestamp(1744577557, UTC)
    assert parsed.extra == {"folder_id": "f-1", "tags": ["garden"]}
    assert said(parsed)[0] == "user: Why do bees dance?"
    assert elsewhere(parsed) == ["For fun."]
    assert parsed.news == {}


def test_reasoning_and_tools_are_taken_out_of_the_text() -> None:
    (parsed,) = parse_file("openwebui", "chats.json")
    question, answer = line_of(parsed)
    assert answer.text == "To point the way.\n<details><summary>More</summary>kept</details>"
    assert beside(parsed) == [("reasoning", "", "Von Frisch."), ("tool_call", "search", "found")]
    assert [c.url for c in answer.citations] == ["https://example.invalid/bee"]
    assert [(a.name, a.text) for a in question.attachments] == [("bee.txt", "buzz"), ("image", "")]


def test_the_inner_chat_alone_is_read_under_a_stable_id() -> None:
    (whole,) = json.loads((EXPORTS / "openwebui" / "chats.json").read_bytes())
    (parsed,) = parse_json(whole["chat"] | {"id": ""})
    assert parsed.external_id == "message:a"
    assert len(said(parsed)) == 2


def test_an_answer_that_lies_in_output_items_alone_is_read() -> None:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Think."}]},
        {"type": "function_call", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "output": [{"type": "input_text", "text": "seen"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "Clover."}]},
        {"type": "hologram"},
    ]
    messages = {"a": {"id": "a", "role": "assistant", "content": "", "output": output}}
    chat = {"timestamp": 1744577557127, "history": {"currentId": "a", "messages": messages}}
    (parsed,) = parse_json(chat)
    assert said(parsed) == ["assistant: Clover."]
    assert parsed.created_at == datetime.fromtimestamp(1744577557.127, UTC)
    assert beside(parsed) == [
        ("reasoning", "", "Think."),
        ("tool_call", "look", "{}"),
        ("tool_result", "", "seen"),
        ("unknown", "hologram", ""),
    ]
    assert parsed.news == {"output:hologram": 1}


def test_a_chat_with_only_the_repeated_line_is_read() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "robot", "content": "beep"}]
    chat = {"history": {"messages": {}}, "messages": messages}
    (parsed,) = parse_json({"id": "x", "chat": chat})
    assert said(parsed) == ["user: Hi"]
    assert parsed.news == {"role:robot": 1}


def test_what_is_not_a_chat_is_not_taken() -> None:
    assert importer_for({"history": []}) is None
    with pytest.raises(UnreadableImport):
        OPENWEBUI.parse({"history": {"messages": {}}})
