from pathlib import Path
from typing import Any

import pytest
import zstandard

from backread.domain import MessageKind, Principal
from backread.kernel import Kernel
from tests.ingest.exports import import_files, write
from tests.ingest.importers.parsing import (
    EXPORTS,
    beside,
    parse_file,
    parse_json,
    parse_lines,
    said,
)


def _meta(**more: Any) -> dict[str, Any]:
    payload = {"id": "s", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/w"} | more
    return {"timestamp": "2026-01-01T10:00:00Z", "type": "session_meta", "payload": payload}


def _response(role: str, *texts: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    blocks = [{"type": kind, "text": text} for text in texts]
    return {
        "timestamp": "2026-01-01T10:00:05Z",
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": blocks} | more,
    }


def _event(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "timestamp": "2026-01-01T10:00:05Z",
        "type": "event_msg",
        "payload": {"type": kind} | more,
    }


def _item(kind: str, text: str, turn: str = "t1") -> dict[str, Any]:
    block = {"type": "text" if kind == "UserMessage" else "Text", "text": text}
    return _event("item_completed", turn_id=turn, item={"type": kind, "content": [block]})


def test_a_session_of_0148_has_every_turn_once() -> None:
    (parsed,) = parse_file("codex", "rollout_0148.jsonl")
    assert parsed.external_id == "s-orchard"
    assert parsed.project == "/home/ada/orchard"
    assert parsed.model == "gpt-5.4"
    assert parsed.extra == {"version": "0.148.0", "git_branch": "pears"}
    assert said(parsed) == [
        "user: continue",
        "assistant: Done.",
        "user: continue",
        "assistant: Done.",
    ]
    assert parsed.news == {}


def test_injected_text_reasoning_and_tools_stand_apart() -> None:
    (parsed,) = parse_file("codex", "rollout_0148.jsonl")
    assert [kind for kind, _, _ in beside(parsed)] == [
        "injected",
        "injected",
        "reasoning",
        "tool_call",
        "tool_result",
    ]
    assert beside(parsed)[3] == ("tool_call", "exec_command", '{\n  "cmd": "prune"\n}')
    kinds = [m.kind for m in parsed.messages]
    assert kinds[:4] == [
        MessageKind.SYSTEM,
        MessageKind.HIDDEN,
        MessageKind.DIALOGUE,
        MessageKind.TOOL,
    ]
    assert "BASE" not in str(parsed.messages)


def test_up_to_0146_events_repeat_what_the_model_was_sent() -> None:
    parsed = parse_lines(
        _meta(cli_version="0.128.0"),
        _response("user", "<environment_context>x</environment_context>"),
        _response("user", "go on"),
        _event("user_message", message="go on"),
        _event("agent_message", message="Gone on."),
        _response("assistant", "Gone on."),
        _response("user", "go on"),
        _event("user_message", message="go on", images=["data:image/png;base64,AA"]),
        _response("assistant", "Gone on."),
        _event("agent_message", message="Gone on."),
    )
    assert said(parsed) == ["user: go on", "assistant: Gone on."] * 2
    assert [a.name for m in parsed.messages for a in m.attachments] == ["image"]


def test_without_events_what_the_model_was_sent_is_what_was_said() -> None:
    parsed = parse_lines(
        _meta(cli_version="0.153.0"),
        _response("user", "# AGENTS.md instructions for /w", "Add a gate"),
        _response("assistant", "Added."),
        _response("user", "<turn_aborted>stopped</turn_aborted>"),
        _response("user", "Paint it"),
    )
    assert said(parsed) == ["user: Add a gate", "assistant: Added.", "user: Paint it"]


def test_words_that_only_an_event_has_are_kept() -> None:
    parsed = parse_lines(
        _meta(),
        _event("user_message", message="Hello"),
        _event("agent_message", message="Only here"),
        _item("AgentMessage", "Only in the item"),
    )
    assert said(parsed) == [
        "user: Hello",
        "assistant: Only here",
        "assistant: Only in the item",
    ]


def test_a_session_carried_on_by_a_newer_version_keeps_the_older_turns() -> None:
    parsed = parse_lines(
        _meta(cli_version="0.140.0"),
        _event("user_message", message="Old words"),
        _response("assistant", "Old answer"),
        _event("task_started", turn_id="t1"),
        _item("UserMessage", "New words"),
        _response("assistant", "New answer"),
    )
    assert said(parsed) == [
        "user: Old words",
        "assistant: Old answer",
        "user: New words",
        "assistant: New answer",
    ]


def test_a_fork_goes_by_its_own_id_and_hides_what_its_parent_said() -> None:
    parent = _meta(id="parent", timestamp="2025-12-31T10:00:00Z")
    parsed = parse_lines(
        _meta(id="fork"),
        parent,
        _response("user", "Asked before") | {"timestamp": "2025-12-31T10:00:01Z"},
        _response("user", "Asked now"),
    )
    assert parsed.external_id == "fork"
    assert parsed.extra["forked_from"] == "parent"
    assert said(parsed) == ["user: Asked now"]


def test_sessions_imported_from_elsewhere_and_summaries_are_no_words() -> None:
    parsed = parse_lines(
        _meta(),
        _response("user", "<EXTERNAL SESSION IMPORTED>"),
        _response("user", "Real words"),
        {"type": "compacted", "payload": {"message": "All of it in short"}},
    )
    assert said(parsed) == ["user: Real words"]
    assert parsed.messages[-1].kind is MessageKind.SYSTEM


def test_the_oldest_sessions_are_bare_lines_or_one_file() -> None:
    bare = parse_lines(
        {"timestamp": "2025-04-10T10:00:00Z", "role": "user", "content": "Hi", "model": "o4-mini"},
        {"type": "tool_call", "function": {"name": "look"}, "arguments": '{"at": 1}'},
        {"type": "tool_result", "name": "look", "result": "seen"},
        {"timestamp": "2025-04-10T10:00:05Z", "role": "assistant", "content": "Hello."},
    )
    assert said(bare) == ["user: Hi", "assistant: Hello."]
    assert bare.model == "o4-mini"
    assert [kind for kind, _, _ in beside(bare)] == ["tool_call", "tool_result"]
    (single,) = parse_json(
        {
            "session": {"id": "old", "timestamp": "2025-05-01T10:00:00Z", "instructions": ""},
            "items": [
                {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
                {"role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
            ],
        }
    )
    assert single.external_id == "old"
    assert said(single) == ["user: Hi", "assistant: Hello."]
    headed = parse_lines(
        {"id": "older", "timestamp": "2025-05-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        _response("user", "Hi"),
    )
    assert headed.external_id == "older"


def test_what_is_unknown_is_news() -> None:
    parsed = parse_lines(
        _meta(),
        _response("user", "Hi"),
        {"type": "response_item", "payload": {"type": "hologram"}},
        _event("fireworks"),
        {"type": "realtime_item", "payload": {"x": 1}},
        _response("robot", "beep"),
        '{"type":"event_msg"',
    )
    assert parsed.news == {
        "item:hologram": 1,
        "event:fireworks": 1,
        "line:realtime_item": 1,
        "role:robot": 1,
        "line:unreadable": 1,
    }


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_folder_with_packed_sessions_and_their_titles_is_imported(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = tmp_path / "codex"
    rollout = (EXPORTS / "codex" / "rollout_0148.jsonl").read_bytes()
    packed = zstandard.compress(rollout)
    write(folder / "sessions" / "2026" / "rollout-x.jsonl.zst", packed)
    write(
        folder / "session_index.jsonl",
        b'{"id":"s-orchard","thread_name":"Pears","updated_at":"2026-08-19T02:00:00Z"}\n',
    )
    report = import_files(kernel, principal, folder)
    assert report.totals.new == 1
    assert report.items[0].title == "Pears"
    write(folder / "sessions" / "2026" / "broken.jsonl.zst", packed[:40] + b"x" * 40)
    again = import_files(kernel, principal, folder)
    assert again.totals.unchanged == 1
    assert any("broken.jsonl.zst" in warning for warning in again.warnings)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_packed_file_that_would_fill_the_disk_is_refused(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    line = b'{"type":"event_msg","payload":{}}\n' + b" " * 32 * 1024**2
    report = import_files(kernel, principal, write(tmp_path / "bomb.zst", zstandard.compress(line)))
    assert report.state == "failed"
    assert report.error is not None
    assert "fill the disk" in report.error.message


@pytest.mark.parametrize("zone", ["Z", ""])
def test_a_fork_that_copied_with_its_own_time_hides_the_copies_too(zone: str) -> None:
    def at(second: str, line: dict[str, Any]) -> dict[str, Any]:
        return line | {"timestamp": f"2026-01-01T10:00:{second}{zone}"}

    lines = [
        at("00.000", _meta(id="fork")),
        at("00.004", _meta(id="parent", timestamp="2025-12-31T10:00:00Z")),
        at("00.005", _response("user", "Asked before")),
        at("00.006", _response("assistant", "Answered before")),
    ]
    assert said(parse_lines(*lines, at("09.000", _response("user", "Asked now")))) == [
        "user: Asked now"
    ]
    # The task of a subagent comes in the same moment as the copies.
    task = at("00.007", _response("user", "Count the tests"))
    answer = at("31.000", _response("assistant", "Forty."))
    assert said(parse_lines(*lines, task, answer)) == [
        "user: Count the tests",
        "assistant: Forty.",
    ]
