from datetime import UTC, datetime
from typing import Any

import pytest

from backread.domain import MessageKind, Role
from backread.errors import UnreadableImport
from ingest.importers import importer_for
from ingest.importers.chatgpt import CHATGPT
from ingest.importers.deepseek import DEEPSEEK
from tests.ingest.exports import chatgpt
from tests.ingest.importers.parsing import (
    beside,
    elsewhere,
    line_of,
    parse_file,
    parse_json,
    said,
)


def _node(parent: str | None, **message: Any) -> dict[str, Any]:
    return {"parent": parent, "children": [], "message": message or None}


def test_an_edited_question_is_a_branch_and_the_newest_answer_is_shown() -> None:
    parsed, _ = parse_file("deepseek", "conversations.json")
    assert parsed.title == "Tea"
    assert parsed.url == "https://chat.deepseek.com/a/chat/s/ds-1"
    assert parsed.model == "deepseek-reasoner"
    assert parsed.created_at == datetime(2025, 3, 29, 20, 49, 36, 505000, tzinfo=UTC)
    assert said(parsed) == ["user: Which tea is darkest?", "assistant: Pu'er."]
    assert elsewhere(parsed) == ["Which tea is oldest?", "Perhaps white tea."]
    assert parsed.news == {}


def test_thoughts_searches_and_files_stand_beside_the_words() -> None:
    parsed, _ = parse_file("deepseek", "conversations.json")
    question, answer = line_of(parsed)
    assert beside(parsed) == [("reasoning", "", "Post-fermented.")]
    assert [c.url for c in answer.citations] == ["https://example.invalid/puer"]
    assert [(a.name, a.size_bytes) for a in question.attachments] == [("leaf.png", 12)]


def test_older_exports_without_fragments_are_read() -> None:
    _, parsed = parse_file("deepseek", "conversations.json")
    assert said(parsed) == ["user: Older question", "assistant: Older answer"]
    assert parsed.title == "Older question"
    assert beside(parsed) == [("reasoning", "", "Older thought")]
    assert [c.title for m in parsed.messages for c in m.citations] == ["O"]


def test_the_websites_own_answer_is_read() -> None:
    messages = [
        {"message_id": 1, "parent_id": None, "role": "USER", "content": "Hi", "inserted_at": 1.7e9},
        {
            "message_id": 2,
            "parent_id": 1,
            "role": "ASSISTANT",
            "content": "Hello",
            "thinking_content": "Greet",
        },
        {"message_id": 3, "parent_id": 1, "role": "ASSISTANT", "content": "Hey"},
    ]
    session = {"id": "w", "title": "Hi", "inserted_at": 1.7e9, "current_message_id": 2}
    inner = {"chat_session": session, "chat_messages": messages}
    for raw in (inner, {"code": 0, "data": {"biz_code": 0, "biz_data": inner}}):
        (parsed,) = parse_json(raw)
        assert parsed.external_id == "w"
        assert said(parsed) == ["user: Hi", "assistant: Hello"]
        assert elsewhere(parsed) == ["Hey"]


def test_a_copy_with_a_current_node_and_no_id_is_still_deepseeks() -> None:
    raw = {
        "current_node": "2",
        "mapping": {
            "root": {"children": ["2", "3"]},
            "2": {"message": {"fragments": [{"type": "REQUEST", "content": "A"}]}},
            "3": {"message": {"fragments": [{"type": "REQUEST", "content": "B"}]}},
        },
    }
    assert importer_for(raw) is DEEPSEEK
    (parsed,) = parse_json(raw)
    assert said(parsed) == ["user: A"]
    assert importer_for(chatgpt()) is CHATGPT


def test_what_is_unknown_is_news() -> None:
    fragments = [{"type": "HOLOGRAM", "content": "3d"}, {"type": "RESPONSE", "content": "ok"}]
    raw = {
        "id": "x",
        "inserted_at": "2025-01-01T00:00:00+08:00",
        "mapping": {
            "a": _node(None, fragments=fragments),
            "b": _node("a", role="ROBOT", content="beep"),
        },
    }
    (parsed,) = parse_json(raw)
    assert parsed.news == {"fragment:HOLOGRAM": 1, "role:ROBOT": 1}
    assert [(m.role, m.kind) for m in parsed.messages] == [
        (Role.ASSISTANT, MessageKind.DIALOGUE),
        (Role.SYSTEM, MessageKind.SYSTEM),
    ]


def test_circles_end_and_an_empty_chat_without_an_id_is_refused() -> None:
    raw = {
        "id": "c",
        "inserted_at": "2025-01-01T00:00:00+08:00",
        "mapping": {
            "1": _node("2", fragments=[{"type": "REQUEST", "content": "A"}]),
            "2": _node("1", fragments=[{"type": "RESPONSE", "content": "B"}]),
        },
    }
    (parsed,) = parse_json(raw)
    assert {m.text for m in parsed.messages} == {"A", "B"}
    with pytest.raises(UnreadableImport):
        DEEPSEEK.parse({"inserted_at": "x", "mapping": {}})
