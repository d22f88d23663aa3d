import json
from datetime import UTC, datetime
from typing import Any

import pytest

from backread.errors import UnreadableImport
from ingest.importers.vscode_copilot import VSCODE_COPILOT
from tests.ingest.importers.parsing import (
    EXPORTS,
    beside,
    parse_bytes,
    parse_file,
    parse_json,
    said,
)


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


def test_a_question_may_be_in_its_parts_alone() -> None:
    message = {"parts": [{"text": "@ws "}, {"text": "Why?"}]}
    request: dict[str, Any] = {"requestId": "r", "message": message, "response": []}
    (parsed,) = parse_json({"requesterUsername": "a", "requests": [request]})
    assert said(parsed) == ["user: @ws Why?"]
    assert parsed.created_at is None


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


def _span(chat: str, operation: str, at: int, **told: Any) -> dict[str, Any]:
    names = {"gen_ai.conversation.id": chat, "gen_ai.operation.name": operation} | {
        f"gen_ai.{key.replace('__', '.')}": value for key, value in told.items()
    }
    return {
        "spanId": f"{chat}-{at}",
        "startTimeUnixNano": str((1_700_000_000 + at) * 10**9),
        "endTimeUnixNano": str((1_700_000_001 + at) * 10**9),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in names.items()],
    }


def _line(*spans: dict[str, Any]) -> str:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]})


def _told(*messages: tuple[str, str]) -> str:
    return json.dumps(
        [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages]
    )


def test_traces_of_visual_studio_come_apart_into_chats_that_say_everything_once() -> None:
    first = _told(("system", "Be kind."), ("user", "Fix it"))
    second = _told(("user", "Fix it"), ("assistant", "Done."), ("user", "Fix it"))
    answer = json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}, {"type": "orb"}]}]
    )
    body = "\n".join(
        [
            _line(_span("a", "invoke_agent", 0)),
            _line(
                _span("a", "execute_tool", 2, tool__name="read", tool__call__result="seal"),
                _span("b", "chat", 9, input__messages=_told(("user", "Other"))),
            ),
            _line(_span("a", "chat", 1, input__messages=first, request__model="gpt-5.5")),
            _line(_span("a", "chat", 3, input__messages=first, output__messages=answer)),
            _line(_span("a", "chat", 5, input__messages=second)),
            _line(_span("a", "embed", 6), {"spanId": "of no chat"}),
        ]
    )
    parsed, other = parse_bytes(body.encode())
    assert (parsed.external_id, parsed.extra) == ("a", {"app": "Visual Studio"})
    assert said(parsed) == ["user: Fix it", "assistant: Done.", "user: Fix it"]
    assert [(kind, name) for kind, name, _ in beside(parsed)] == [
        ("tool_call", "read"),
        ("tool_result", "read"),
        ("unknown", "orb"),
    ]
    assert parsed.created_at == datetime.fromtimestamp(1_700_000_001, UTC)
    assert parsed.news == {"part:orb": 1, "operation:embed": 1}
    assert said(other) == ["user: Other"]
