from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backread.domain import MessageKind, Principal, Role
from backread.kernel import Kernel
from ingest.importers import importer_for
from ingest.importers.claude_code import CLAUDE_CODE
from ingest.importers.envelopes import LINES_KEY
from tests.ingest.exports import import_files
from tests.ingest.importers.parsing import (
    EXPORTS,
    beside,
    elsewhere,
    line_of,
    parse_bytes,
    parse_file,
    parse_json,
    parse_lines,
    said,
)


def _line(kind: str, uuid: str, content: Any, parent: str | None = None, **more: Any) -> Any:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s",
        "timestamp": "2026-03-01T09:00:00Z",
        "message": {"role": kind, "content": content},
    } | more


def test_a_session_is_one_conversation_on_the_line_it_ended_with() -> None:
    (parsed,) = parse_file("claude_code", "session.jsonl")
    assert parsed.external_id == "s-loom"
    assert parsed.title == "The loom"
    assert parsed.project == "/home/ada/loom"
    assert parsed.model == "claude-opus-4-5"
    assert parsed.created_at == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert parsed.extra == {"git_branch": "main", "version": "2.1.0"}
    assert said(parsed) == [
        "user: Why does the shuttle jam?",
        "assistant: Let me read the log.",
        "assistant: The weft is too thick.",
        "user: Use thin wool instead",
        "assistant: Wool it is.",
    ]
    assert parsed.news == {}


def test_a_rewound_turn_and_a_subagent_inside_the_file_are_other_branches() -> None:
    (parsed,) = parse_file("claude_code", "session.jsonl")
    assert elsewhere(parsed) == [
        "Use silk instead",
        "Silk would slip.",
        "Count the picks.",
        "There are 412.",
    ]
    task = next(m for m in parsed.messages if m.text == "Count the picks.")
    assert (task.role, task.kind) == (Role.TOOL, MessageKind.TOOL)


def test_lines_of_one_answer_are_joined_with_thinking_and_tools_apart() -> None:
    (parsed,) = parse_file("claude_code", "session.jsonl")
    assert beside(parsed) == [
        ("injected", "system-reminder", "Be brief."),
        ("reasoning", "", "Look at the race first."),
        ("tool_call", "Read", '{\n  "file_path": "loom.log"\n}'),
        ("tool_result", "", "jam at pick 412"),
    ]
    assert [m.text for m in parsed.messages if m.kind is MessageKind.HIDDEN] == [
        "Caveat: written by the program",
        "<command-name>/init</command-name>",
    ]
    assert line_of(parsed)[-2].attachments[0].mime_type == "image/png"


def test_after_compaction_the_line_goes_on() -> None:
    parsed = parse_lines(
        _line("user", "u1", "One"),
        _line("assistant", "a1", "Two", "u1"),
        _line("system", "c", "", None, subtype="compact_boundary", logicalParentUuid="a1")
        | {"content": "Conversation compacted"},
        _line("user", "u2", "A summary of it all", "c", isCompactSummary=True),
        _line("user", "u3", "Three", "u2"),
    )
    assert said(parsed) == ["user: One", "assistant: Two", "user: Three"]


def test_parents_that_are_missing_repeated_or_in_a_circle_lose_nothing() -> None:
    parsed = parse_lines(
        _line("user", "u1", "One"),
        _line("assistant", "a1", "Two", "u1"),
        _line("user", "u2", "Three", "phantom"),
        _line("user", "u2", "Three", "phantom", cwd="/changed"),
        _line("assistant", "a2", "Four", "u2"),
        _line("user", "loop", "Five", "loop"),
    )
    assert {m.text for m in parsed.messages} == {"One", "Two", "Three", "Four", "Five"}
    assert said(parsed)[:4] == ["user: One", "assistant: Two", "user: Three", "assistant: Four"]


def test_a_marker_that_the_session_outgrew_does_not_end_the_line() -> None:
    parsed = parse_lines(
        _line("user", "u1", "One"),
        _line("assistant", "a1", "Two", "u1"),
        {"type": "last-prompt", "leafUuid": "a1"},
        _line("user", "u2", "Three", "a1", timestamp="2026-03-01T10:00:00Z"),
    )
    assert said(parsed)[-1] == "user: Three"


def test_sessions_without_links_or_ids_are_read_in_order_under_a_stable_id() -> None:
    lines = [
        {"type": "user", "timestamp": "2024-01-01T10:00:00Z", "message": {"content": "Fix it"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Fixed."}]}},
    ]
    parsed = parse_lines(*lines)
    assert said(parsed) == ["user: Fix it", "assistant: Fixed."]
    assert parsed.title == "Fix it"
    grown = parse_lines(*lines, {"type": "user", "message": {"content": "Thanks"}})
    assert grown.external_id == parsed.external_id
    (single,) = parse_json({"loglines": lines})
    assert single.external_id == parsed.external_id


def test_a_subagents_own_file_is_a_conversation_of_its_own() -> None:
    parsed = parse_lines(
        _line("user", "x1", "Count them", isSidechain=True, agentId="7f"),
        _line("assistant", "x2", "There are nine.", "x1", isSidechain=True, agentId="7f"),
    )
    assert parsed.external_id == "s/agent-7f"
    assert parsed.title == "Count them"
    assert said(parsed) == ["assistant: There are nine."]


def test_broken_lines_cost_only_themselves_and_what_is_unknown_is_news() -> None:
    parsed = parse_lines(
        "\x00\x00",
        _line("user", "u1", "One \x00 lone \ud83d"),
        "[1, 2]",
        _line("assistant", "a1", [{"type": "hologram", "text": "3d"}, {"type": "text"}], "u1"),
        {"type": "weather-report"},
        '{"type":"user","uuid":"u9","mess',
    )
    assert said(parsed) == ["user: One  lone "]
    assert parsed.news == {
        "line:unreadable": 1,
        "line:not an object": 1,
        "block:hologram": 1,
        "line:weather-report": 1,
    }


def test_an_error_of_the_service_is_no_answer() -> None:
    parsed = parse_lines(
        _line("user", "u1", "One"),
        _line("assistant", "a1", "API Error: overloaded", "u1", isApiErrorMessage=True),
    )
    assert said(parsed) == ["user: One"]


def test_other_tools_lines_are_not_taken_for_claude_code() -> None:
    for lines in (
        [{"type": "user", "sessionId": "s", "message": {"role": "user", "parts": []}}],
        [{"type": "session_meta", "payload": {}, "message": {"content": ""}, "sessionId": "s"}],
        [{"type": "journal", "entry": 1}],
    ):
        assert importer_for({LINES_KEY: lines}) is not CLAUDE_CODE


def test_lines_come_apart_the_same_wherever_chunks_end() -> None:
    body = (EXPORTS / "claude_code" / "session.jsonl").read_bytes()
    whole = parse_bytes(body)
    assert parse_bytes(body, chunk=1000) == whole
    assert parse_bytes(body.replace(b"\n", b"\r\n")) == whole


def test_a_folder_of_sessions_is_imported_once(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = tmp_path / "projects" / "-home-ada-loom"
    (folder / "s-loom" / "subagents").mkdir(parents=True)
    session = (EXPORTS / "claude_code" / "session.jsonl").read_bytes()
    (folder / "s-loom.jsonl").write_bytes(session)
    agent = session.replace(b'"isSidechain":false', b'"isSidechain":true,"agentId":"9"')
    (folder / "s-loom" / "subagents" / "agent-9.jsonl").write_bytes(agent)
    (folder / "s-loom" / "subagents" / "agent-9.meta.json").write_bytes(b'{"agentType":"x"}')
    (folder / "journal.jsonl").write_bytes(b'{"type":"started","key":"k"}\n')
    report = import_files(kernel, principal, tmp_path / "projects")
    assert (report.totals.new, report.totals.found) == (2, 2)
    assert report.platforms == {"claude_code": 2}
    again = import_files(kernel, principal, tmp_path / "projects")
    assert (again.totals.unchanged, again.totals.found) == (2, 2)


def test_where_a_session_came_from_and_led_to_is_kept() -> None:
    parsed = parse_lines(
        _line("user", "u1", "Weave", forkedFrom={"sessionId": "parent", "messageUuid": "m"}),
        {"type": "pr-link", "sessionId": "s", "prUrl": "https://github.example/pull/7"},
    )
    assert parsed.extra == {
        "forked_from": "parent",
        "pull_request": "https://github.example/pull/7",
    }


def test_a_session_of_commands_alone_is_called_by_the_first_of_them() -> None:
    parsed = parse_lines(
        _line("user", "u1", "<command-name>/init</command-name>\n<command-message>…"),
        _line("assistant", "a1", [{"type": "text", "text": "Done."}], "u1"),
    )
    assert parsed.title == "/init"
