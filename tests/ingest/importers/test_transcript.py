"""Transcripts of no platform: who speaks is found, notes are not taken for chats, and a chat
keeps its identity as its file grows."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from backread.domain import MessageKind, ParsedConversation, Principal
from backread.errors import UnreadableImport
from backread.kernel import Kernel
from ingest.importers import importer_for
from ingest.importers.transcript import TRANSCRIPT
from tests.ingest.exports import as_zip, import_files, write
from tests.ingest.importers.parsing import (
    beside,
    parse_bytes,
    parse_file,
    parse_json,
    parse_lines,
    said,
)


def _text(text: str) -> ParsedConversation:
    (parsed,) = parse_bytes(text.encode())
    return parsed


def _is_chat(text: str) -> bool:
    return importer_for({"backread_text": text}) is not None


def test_headings_begin_turns_and_the_front_matter_tells_about_the_chat() -> None:
    (parsed,) = parse_file("transcript", "notes.md")
    assert (parsed.title, parsed.model) == ("Lichen on slate", "gpt-4o")
    assert parsed.url == "https://example.invalid/chat/lichen"
    assert parsed.created_at == datetime(2025, 4, 2, tzinfo=UTC)
    assert parsed.updated_at == datetime(2025, 4, 2, 10, 16, tzinfo=UTC)
    assert said(parsed) == [
        "user: Does lichen harm slate?\n\n```\n## User\nnot a turn\n```",
        "assistant: Hardly.\n\n**User:** is what some would write here.",
        "user: And moss?",
        "assistant: Moss keeps it wet.",
    ]
    assert [m.author for m in parsed.messages] == ["", "", "ChatGPT", "", ""]
    assert (parsed.messages[0].kind, parsed.messages[0].text) == (
        MessageKind.SYSTEM,
        "A chat that I kept.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "User: Which wood?\nOr bamboo?\nAssistant: Oak.\n",
        "**User:** Which wood?\nOr bamboo?\n\n**Assistant:** Oak.\n",
        "**User**: Which wood?\nOr bamboo?\n\n**Assistant**: Oak.",
        "**You:**\nWhich wood?\nOr bamboo?\n\n* * *\n\n**ChatGPT:**\n\nOak.\n\n* * *",
        "**You**\n\nWhich wood?\nOr bamboo?\n\n**Claude**\n\nOak.",
        "# Wood\n\n### Human\n\nWhich wood?\nOr bamboo?\n\n### AI\n\nOak.\n",
        "## Prompt:\nWhich wood?\nOr bamboo?\n\n## Response:\nOak.\n",
        "\ufeff## **Me**\r\nWhich wood?\r\nOr bamboo?\r\n## GPT-4.1 mini\r\nOak.\r\n",
        "# W\n\nCreated: 2025-01-02\n\n**Human:** Which wood?\nOr bamboo?\n\n---\n\n**AI:** Oak.",
    ],
)
def test_speakers_are_found_in_all_the_ways_they_are_written(text: str) -> None:
    assert said(_text(text)) == ["user: Which wood?\nOr bamboo?", "assistant: Oak."]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("## User — 2025-01-02 10:03\nHi\n## Assistant — 2025-01-02 10:04\nHo", (3, 4)),
        ("## 2025-01-02 10:03 User\nHi\n## 2025-01-02T10:04:00Z Assistant\nHo", (3, 4)),
        ("# 2025-01-02\n## User (10:03)\nHi\n## Assistant (10:04)\nHo", (3, 4)),
        ("## User\n*January 2, 2025, 10:03*\n\nHi\n## Assistant\n2025-01-02 10:04\nHo", (3, 4)),
        ("## User (2025-01-02 12:03 +02:00)\nHi\n## Assistant\nHo", (3, None)),
        ("## User (10:03)\nHi\n## Assistant (25:61)\nHo", (None, None)),
        ("## Human (1/2/2025, 10:03:00 AM):\nHi\n## Claude:\nHo", (None, None)),
        ("# 2025-01-02\n## User (10:03 AM)\nHi\n## Claude (10:04 am)\nHo", (3, 4)),
        (
            "**user**: Hi\n[Timestamp: 2025/01/02 10:03:00]\n\n"
            "**ai**: Ho\n[Timestamp: 2025/01/02 10:04:00]",
            (3, 4),
        ),
    ],
)
def test_times_are_read_where_they_stand_and_never_made_up(
    text: str, times: tuple[int | None, int | None]
) -> None:
    parsed = _text(text)
    assert said(parsed) == ["user: Hi", "assistant: Ho"]
    expected = [at and datetime(2025, 1, 2, 10, at, tzinfo=UTC) for at in times]
    assert [m.created_at for m in parsed.messages] == expected


def test_the_half_of_the_day_counts() -> None:
    parsed = _text("## User — January 2, 2025 at 10:03 PM\nHi\n## Assistant (12:04 AM)\nHo")
    assert parsed.messages[0].created_at == datetime(2025, 1, 2, 22, 3, tzinfo=UTC)
    assert parsed.messages[1].created_at is None  # of which day is not said


@pytest.mark.parametrize(
    "text",
    [
        "# Meeting\n\nTo do: bread\nNote: butter\n",
        "# Tools\n\n## Claude\n\nGood at prose.\n\n## ChatGPT\n\nGood at lists.\n",
        "**You:** wrote this.\n\n**Me:** so did I.\n",
        "Dear diary\n\nUser: is a word\n",
        "x" * 5_000 + "\n\n## User\nHi\n## Assistant\nHo\n",
        "```\nUser: Hi\nAssistant: Ho\n```\n",
        "---\nbackread_archive: 1\n---\n## User\n\nHi\n\n## Assistant\n\nHo\n",
    ],
)
def test_an_ordinary_note_is_not_a_chat(text: str) -> None:
    assert not _is_chat(text)


@pytest.mark.parametrize(
    "line",
    [
        "# a" + " " * 200_000 + "x",
        "# gpt" + "-a" * 100_000 + "!",
        "**gpt" + "." * 200_000,
        "gpt" + "(" * 200_000 + ":",
        "---" * 100_000 + "x",
        "## " + "1" * 200_000,
        "**a" * 100_000,
        "# " * 100_000,
    ],
)
@pytest.mark.timeout(20)
def test_no_line_takes_long_to_look_at(line: str) -> None:
    assert not _is_chat(f"{line}\n{line}\n")
    parsed = _text(f"## User\n{line}\n## Assistant\nHo\n{line}")
    assert len(said(parsed)) == 2


def test_lines_of_messages_are_one_conversation() -> None:
    (parsed,) = parse_file("transcript", "messages.jsonl")
    assert said(parsed) == ["user: Which glue for slate?", "assistant: Epoxy."]
    assert parsed.title == "Which glue for slate?"
    assert parsed.created_at == datetime(2025, 4, 3, 8, tzinfo=UTC)
    assert beside(parsed) == [("unknown", "hologram", "3d"), ("tool_call", "look", '{"q":1}')]
    assert [m.kind.value for m in parsed.messages] == ["system", "dialogue", "dialogue", "tool"]
    assert parsed.news == {"part:hologram": 1}


def test_lines_of_agents_that_hold_messages_are_read() -> None:
    parsed = parse_lines(
        {"type": "session", "id": "s"},
        {
            "type": "user",
            "timestamp": "2025-01-02T10:00:00Z",
            "message": {
                "role": "user",
                "parts": [{"text": "Look."}, {"text": "<hook:note>\nbe quick\n</hook:note>"}],
            },
        },
        {
            "type": "assistant",
            "model": "m-1",
            "message": {
                "role": "model",
                "parts": [
                    {"text": "Hm.", "thought": True},
                    {"functionCall": {"name": "read", "args": {"path": "a"}}},
                    {"orb": 1},
                ],
            },
        },
        {
            "type": "tool_result",
            "message": {
                "role": "user",
                "parts": [{"functionResponse": {"name": "read", "response": {"output": "b"}}}],
            },
        },
        {"type": "assistant", "message": {"role": "model", "parts": [{"text": "Seen."}]}},
        {
            "type": "user",
            "subtype": "notification",
            "message": {"role": "user", "parts": [{"text": "Done in the background."}]},
        },
        {"type": "message", "message": {"role": "toolResult", "content": "c"}},
    )
    assert said(parsed) == ["user: Look.", "assistant: Seen."]
    assert beside(parsed) == [
        ("injected", "", "<hook:note>\nbe quick\n</hook:note>"),
        ("reasoning", "", "Hm."),
        ("tool_call", "read", '{\n  "path": "a"\n}'),
        ("unknown", "orb", ""),
        ("tool_result", "read", '{\n  "output": "b"\n}'),
    ]
    assert [m.kind.value for m in parsed.messages] == [
        "dialogue",
        "tool",
        "tool",
        "dialogue",
        "system",
        "tool",
    ]
    assert parsed.model == "m-1"
    assert parsed.news == {"line:session": 1, "part:orb": 1}


def test_a_list_of_messages_is_the_same_conversation_as_their_lines() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    (listed,) = parse_json(messages)
    (held,) = parse_json({"messages": messages})
    lines = parse_lines(*messages)
    assert said(listed) == ["user: Hi", "assistant: Ho"]
    assert listed.messages == held.messages == lines.messages
    assert listed.external_id == held.external_id == lines.external_id


def test_sharegpt_holds_a_conversation_in_each_element() -> None:
    first, second = parse_file("transcript", "sharegpt.json")
    assert said(first) == ["user: Who are you?", "assistant: A tiler."]
    assert said(second) == ["user: Which nail?", "assistant: Copper."]
    assert second.news == {"role:critic": 1}
    assert first.external_id != second.external_id


def test_lines_and_lists_of_whole_conversations_are_taken_apart() -> None:
    one = {"messages": [{"role": "user", "content": "A"}, {"role": "assistant", "content": "B"}]}
    two = {
        "title": "Tiles",
        "model": "m",
        "created_at": "2025-01-02T10:00:00Z",
        "system": "Be kind.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "C"}, {"type": "image"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "text", "text": "D"},
                    {"type": "tool_use", "name": "look", "input": {"at": 1}},
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "content": [{"type": "text", "text": "E"}]}],
            },
        ],
    }
    listed = parse_json([one, two])
    assert [said(each) for each in listed] == [
        ["user: A", "assistant: B"],
        ["user: C", "assistant: D"],
    ]
    assert (listed[1].title, listed[1].model) == ("Tiles", "m")
    assert listed[1].created_at == datetime(2025, 1, 2, 10, tzinfo=UTC)
    assert beside(listed[1]) == [
        ("reasoning", "", "Hm."),
        ("tool_call", "look", '{\n  "at": 1\n}'),
        ("tool_result", "", "E"),
    ]
    assert [a.name for a in listed[1].messages[1].attachments] == ["image"]
    (inside,) = parse_json({"version": 1, "session": two})
    assert (said(inside), inside.title) == (said(listed[1]), "Tiles")
    wrapped = parse_json({"conversations": [one, two]})
    assert [each.external_id for each in wrapped] == [each.external_id for each in listed]


def test_a_chat_keeps_its_identity_as_it_grows_and_others_do_not_share_it() -> None:
    start = "## User\nHi\n## Assistant\nHo\n"
    grown = _text(start + "## User\nMore\n")
    short = _text(start)
    assert short.external_id == grown.external_id
    assert [m.external_id for m in short.messages] == [m.external_id for m in grown.messages][:2]
    other = _text("## User\nHi\n## Assistant\nHello\n")
    assert other.external_id != short.external_id
    same_id = [
        {"id": 1, "messages": [{"role": "user", "content": text}, {"role": "ai", "content": "B"}]}
        for text in ("A", "Z")
    ]
    first, second = parse_json(same_id)
    assert first.external_id != second.external_id


def test_what_is_no_transcript_is_not_taken() -> None:
    assert importer_for({"messages": [{"role": "user", "content": "alone"}]}) is None
    assert importer_for({"messages": []}) is None
    assert importer_for({"conversations": [{"from": "a@b.c", "text": "mail"}]}) is None
    with pytest.raises(UnreadableImport):
        TRANSCRIPT.parse({"messages": []})


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_edited_transcript_keeps_what_was_there_as_a_branch(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    first = write(tmp_path / "a.md", b"## User\nHi\n## Assistant\nHo\n## User\nSo?\n")
    assert import_files(kernel, principal, first).platforms == {"transcript": 1}
    grown = write(tmp_path / "renamed.md", first.read_bytes() + b"## Assistant\nYes.\n")
    report = import_files(kernel, principal, grown)
    assert (report.totals.updated, report.messages_new) == (1, 1)
    edited = write(tmp_path / "a.md", b"## User\nHi\n## Assistant\nHo\n## User\nWell?\n")
    report = import_files(kernel, principal, edited)
    assert (report.totals.updated, report.messages_new) == (1, 1)
    again = import_files(kernel, principal, edited)
    assert (again.totals.unchanged, again.messages_new) == (1, 0)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_notes_among_chats_are_passed_over_and_a_note_alone_is_refused_in_words(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    files = {"chat.md": b"## User\nHi\n## Assistant\nHo\n", "note.md": b"# Bread\n\nFlour.\n"}
    report = import_files(kernel, principal, as_zip(files, tmp_path / "notes.zip"))
    assert (report.totals.found, report.totals.new, report.warnings) == (1, 1, [])
    alone = import_files(kernel, principal, write(tmp_path / "note.md", files["note.md"]))
    assert alone.error is not None
    assert "plain text without the turns of a chat" in alone.error.message
    assert "## User" in alone.error.message
