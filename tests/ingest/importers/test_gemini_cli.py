from datetime import UTC, datetime

import pytest

from backread.domain import MessageKind
from backread.errors import UnreadableImport
from ingest.importers.gemini_cli import GEMINI_CLI
from tests.ingest.importers.parsing import beside, parse_file, parse_json, said


def test_a_session_is_read_with_thoughts_and_tools_apart() -> None:
    (parsed,) = parse_file("gemini_cli", "session.json")
    assert (parsed.external_id, parsed.title) == ("gc-1", "Kiln logs")
    assert (parsed.project, parsed.model) == ("/home/ada/kiln", "gemini-3-pro")
    assert parsed.updated_at == datetime(2025, 12, 16, 23, 48, tzinfo=UTC)
    assert said(parsed) == ["user: Read @log", "assistant: It is hot.", "user: Thanks"]
    assert beside(parsed) == [
        ("injected", "", "Read @log\n--- Content ---\nhot"),
        ("reasoning", "", "Plan\nLook."),
        ("tool_call", "read_file", '{\n  "path": "log"\n}'),
        ("tool_result", "read_file", "1240"),
    ]
    assert parsed.messages[2].kind is MessageKind.SYSTEM
    assert parsed.news == {"type:hologram": 1}


def test_lines_are_replayed_with_each_messages_last_state() -> None:
    (parsed,) = parse_file("gemini_cli", "session.jsonl")
    assert (parsed.external_id, parsed.title) == ("gc-2", "Firing")
    assert parsed.updated_at == datetime(2026, 3, 1, 10, 5, tzinfo=UTC)
    assert parsed.extra == {"is_subagent": True}
    assert said(parsed) == ["user: Fire it", "assistant: Firing."]
    assert parsed.news == {"line:$rewindTo": 1}


def test_what_a_browser_saved_in_the_same_shape_is_read() -> None:
    messages = [
        {"id": "a", "type": "user", "content": {"text": "Hi"}},
        {"id": "b", "type": "model", "parts": [{"text": "Hello"}, {"inlineData": {}}]},
    ]
    raw = {"sessionId": "w", "projectHash": "gemini-web", "messages": messages}
    (parsed,) = parse_json(raw)
    assert said(parsed) == ["user: Hi", "assistant: Hello"]
    with pytest.raises(UnreadableImport):
        GEMINI_CLI.parse({"sessionId": None, "messages": []})
