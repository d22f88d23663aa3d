import json
from datetime import UTC, datetime

import pytest

from backread.errors import UnreadableImport
from ingest.importers.vscode_copilot import VSCODE_COPILOT
from tests.ingest.importers.parsing import EXPORTS, beside, parse_file, parse_json, said


def test_a_session_is_read_with_pieces_joined_as_shown() -> None:
    (parsed,) = parse_file("vscode_copilot", "session.json")
    assert (parsed.external_id, parsed.title) == ("vs-1", "fix the pump")
    assert parsed.created_at == datetime.fromtimestamp(1755347684.754, UTC)
    assert parsed.model == "gpt-5"
    assert said(parsed) == [
        "user: Why does the pump stop?",
        "assistant: Let me look. `pump.go` has no seal.",
        "user: a plain string",
        "assistant: ok",
    ]
    assert parsed.messages[0].attachments[0].name == "pump.go"


def test_thinking_tools_and_edits_stand_apart() -> None:
    (parsed,) = parse_file("vscode_copilot", "session.json")
    assert beside(parsed) == [
        ("reasoning", "", "The valve?"),
        ("reasoning", "", "Or\nthe seal?"),
        ("tool_call", "copilot_readFile", "Read pump.go"),
        ("artifact", "/src/pump.go", "seal()"),
        ("unknown", "hologram", "3d"),
        ("tool_result", "", "Cancelled"),
    ]
    assert parsed.news == {"response:hologram": 1}


def test_a_log_of_changes_is_replayed() -> None:
    (parsed,) = parse_file("vscode_copilot", "log.jsonl")
    assert (parsed.external_id, parsed.title) == ("vs-2", "the log")
    assert said(parsed) == ["user: Is it on?", "assistant: It is on."]


def test_an_exported_chat_without_a_session_id_goes_by_its_first_request() -> None:
    raw = json.loads((EXPORTS / "vscode_copilot" / "session.json").read_bytes())
    del raw["sessionId"]
    (parsed,) = parse_json(raw)
    assert parsed.external_id == "request:r1"
    with pytest.raises(UnreadableImport):
        VSCODE_COPILOT.parse({"requests": []})
