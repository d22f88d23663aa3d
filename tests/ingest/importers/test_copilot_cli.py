from datetime import UTC, datetime

import pytest

from backread.domain import MessageKind
from backread.errors import UnreadableImport
from ingest.importers.copilot_cli import COPILOT_CLI
from tests.ingest.importers.parsing import beside, line_of, parse_file, parse_lines, said


def test_a_session_is_read_with_what_it_is_about() -> None:
    (parsed,) = parse_file("copilot_cli", "events.jsonl")
    assert (parsed.external_id, parsed.project) == ("cc-1", "/tmp/well")
    assert parsed.model == "gpt-5-mini"
    assert parsed.created_at == datetime(2025, 12, 18, 21, 32, 4, 182000, tzinfo=UTC)
    assert parsed.extra == {"version": "1.0.77", "git_branch": "main"}
    assert said(parsed) == [
        "user: How deep is it?",
        "assistant: Measuring.",
        "assistant: Twelve metres.",
    ]
    assert parsed.news == {"event:hologram": 1}


def test_tools_reasoning_and_added_text_stand_beside_the_words() -> None:
    (parsed,) = parse_file("copilot_cli", "events.jsonl")
    assert beside(parsed) == [
        ("injected", "", "<now>x</now> How deep is it?"),
        ("reasoning", "", "Measure."),
        ("tool_call", "shell", '{\n  "command": "plumb"\n}'),
        ("tool_result", "", "12 m"),
        ("reasoning", "", "Read it."),
    ]
    assert line_of(parsed)[1].attachments[0].name == "depth.txt"
    agents = [m.text for m in parsed.messages if m.kind is MessageKind.TOOL]
    assert agents == ["to the agent"]


def test_a_session_whose_start_is_lost_has_a_stable_id() -> None:
    first = {"type": "user.message", "data": {"content": "Hi"}, "id": "e4"}
    start = {"type": "tool.execution_start", "data": {"toolCallId": "x", "toolName": "look"}}
    parsed = parse_lines(first, start, "{cut")
    grown = parse_lines(first, {"type": "assistant.message", "data": {"content": "Ho"}})
    assert parsed.external_id == grown.external_id
    assert said(grown) == ["user: Hi", "assistant: Ho"]
    assert parsed.news == {"line:unreadable": 1}
    with pytest.raises(UnreadableImport):
        COPILOT_CLI.parse({})
