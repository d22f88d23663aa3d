import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backread.domain import MessageKind, ParsedConversation, ParsedMessage, Role
from backread.errors import UnreadableImport
from ingest.importers import importer_for
from ingest.importers.claude_ai import CLAUDE_AI
from tests.ingest.exports import chatgpt, claude, claude_message

FIXTURES = Path(__file__).parents[2] / "fixtures" / "exports" / "claude_ai"
NO_PARENT = "00000000-0000-4000-8000-000000000000"


def _line(parsed: ParsedConversation) -> list[str]:
    texts = {message.external_id: message.text for message in parsed.messages}
    return [texts[external_id] for external_id in parsed.shown_line]


def _asides(message: ParsedMessage) -> list[tuple[str, str, str]]:
    return [(aside.kind, aside.name, aside.text) for aside in message.asides]


def test_a_chat_is_read_with_its_words_times_title_and_address() -> None:
    parsed = CLAUDE_AI.parse(claude(project={"uuid": "p", "name": "Pottery"}, is_starred=True))
    assert parsed.title == "Kiln"
    assert parsed.url == "https://claude.ai/chat/chat-1"
    assert parsed.project == "Pottery"
    assert parsed.is_starred
    assert parsed.updated_at == datetime(2024, 3, 5, 12, 5, tzinfo=UTC)
    assert [(m.role, m.text) for m in parsed.messages] == [
        (Role.USER, "How hot must a kiln be?"),
        (Role.ASSISTANT, "About 1,240 °C."),
    ]
    assert parsed.news == {}


def test_a_whole_export_of_many_shapes_reads_as_expected() -> None:
    raw = json.loads((FIXTURES / "many_shapes.json").read_bytes())
    expected = json.loads((FIXTURES / "many_shapes.expected.json").read_bytes())
    parsed = [CLAUDE_AI.parse(conversation) for conversation in raw]
    found = [
        {
            "title": each.title,
            "line": [
                f"{m.role} {m.kind}: {m.text}"
                for key in each.shown_line
                for m in each.messages
                if m.external_id == key
            ],
            "branches": len(each.messages) - len(each.shown_line),
        }
        for each in parsed
    ]
    assert found == expected


def test_without_parents_the_order_of_the_list_is_the_chat() -> None:
    parsed = CLAUDE_AI.parse(claude(turns=("a", "b", "c")))
    assert _line(parsed) == ["a", "b", "c"]
    assert [m.parent_external_id for m in parsed.messages] == [None, "chat-1-m0", "chat-1-m1"]


def test_retries_are_branches_and_the_newest_is_shown() -> None:
    parsed = CLAUDE_AI.parse(
        claude(
            turns=(
                claude_message("q", "human", "Why?", parent=NO_PARENT),
                claude_message("a1", "assistant", "First try.", parent="q"),
                claude_message(
                    "a2", "assistant", "Second try.", parent="q", created_at="2024-03-05T12:09:00Z"
                ),
            )
        )
    )
    assert _line(parsed) == ["Why?", "Second try."]
    assert len(parsed.messages) == 3


def test_question_and_answer_of_one_moment_keep_their_order() -> None:
    turns = (
        claude_message("q", "human", "Why?", parent=NO_PARENT),
        claude_message("a", "assistant", "Because.", parent="q"),
    )
    assert _line(CLAUDE_AI.parse(claude(turns=turns))) == ["Why?", "Because."]


def test_the_current_leaf_decides_where_there_is_one() -> None:
    raw = claude(
        turns=(
            claude_message("q", "human", "Why?", parent=NO_PARENT),
            claude_message("a1", "assistant", "First.", parent="q"),
            claude_message("a2", "assistant", "Second.", parent="q", created_at="2025-01-01"),
        ),
        current_leaf_message_uuid="a1",
    )
    assert _line(CLAUDE_AI.parse(raw)) == ["Why?", "First."]


def test_a_snapshot_goes_by_its_index() -> None:
    raw = claude(
        turns=(
            claude_message("b", "assistant", "second", index=1),
            claude_message("a", "human", "first", index=0),
        ),
        name="",
        snapshot_name="Shared kiln",
    )
    parsed = CLAUDE_AI.parse(raw)
    assert _line(parsed) == ["first", "second"]
    assert parsed.title == "Shared kiln"


def test_unknown_blocks_and_senders_are_counted_and_lose_nothing_else() -> None:
    raw = claude(
        turns=(
            claude_message(
                "m",
                "assistant",
                "",
                content=[{"type": "hologram", "text": "3d"}, {"type": "text", "text": "ok"}],
            ),
            claude_message("n", "robot", "beep"),
        )
    )
    parsed = CLAUDE_AI.parse(raw)
    assert parsed.news == {"block:hologram": 1, "sender:robot": 1}
    assert [m.text for m in parsed.messages] == ["ok", "beep"]
    assert _asides(parsed.messages[0]) == [("unknown", "hologram", "3d")]
    assert parsed.messages[1].kind is not MessageKind.DIALOGUE


def test_sentinel_dates_are_no_dates() -> None:
    parsed = CLAUDE_AI.parse(
        claude(
            turns=(claude_message("m", "human", "x", created_at="0001-01-01T00:00:00Z"),),
            created_at="0001-01-01T00:00:00Z",
        )
    )
    assert parsed.created_at is None
    assert parsed.messages[0].created_at is None


def test_repeated_message_ids_lose_no_words() -> None:
    same = claude_message("m", "human", "once")
    parsed = CLAUDE_AI.parse(claude(turns=(same, same, claude_message("m", "assistant", "other"))))
    assert [m.text for m in parsed.messages] == ["once", "other"]
    assert len({m.external_id for m in parsed.messages}) == 2


def test_circles_of_parents_end() -> None:
    turns = (
        claude_message("a", "human", "x", parent="b"),
        claude_message("b", "assistant", "y", parent="a"),
    )
    parsed = CLAUDE_AI.parse(claude(turns=turns))
    assert {m.text for m in parsed.messages} == {"x", "y"}
    assert parsed.shown_line


def test_design_chats_are_chats() -> None:
    raw = {
        "uuid": "design-9",
        "title": "Poster",
        "project": {"uuid": "p", "name": "Fair"},
        "created_at": "2026-08-14T06:36:35+00:00",
        "messages": [
            {
                "uuid": "d0",
                "role": "user",
                "content": {
                    "kind": "chat",
                    "content": "Make the poster red.",
                    "timestamp": "2026-08-14T06:36:35Z",
                    "attachments": [{"id": "a", "name": "logo.svg", "type": "image"}],
                },
            },
            {
                "uuid": "d1",
                "role": "assistant",
                "content": {
                    "content": "",
                    "contentBlocks": [
                        {"type": "thinking", "text": "Red it is."},
                        {"type": "text", "text": "Done."},
                        {
                            "type": "tool_call",
                            "toolCall": {"name": "edit", "input": {}, "output": "ok"},
                        },
                        {"type": "error", "message": "Overloaded"},
                        {"type": "confetti"},
                    ],
                },
            },
            {"uuid": "d2", "role": "user", "content": {"kind": "direct-edit", "content": "moved"}},
        ],
    }
    assert importer_for(raw) is CLAUDE_AI
    parsed = CLAUDE_AI.parse(raw)
    assert parsed.title == "Poster"
    assert parsed.url == ""
    assert _line(parsed)[:2] == ["Make the poster red.", "Done."]
    assert parsed.messages[0].created_at == datetime(2026, 8, 14, 6, 36, 35, tzinfo=UTC)
    assert [a.kind for a in parsed.messages[1].asides] == [
        "reasoning",
        "tool_call",
        "tool_result",
        "unknown",
    ]
    assert parsed.messages[2].kind is MessageKind.HIDDEN
    assert parsed.news == {"block:confetti": 1}


def test_recognised_by_structure_alone() -> None:
    assert importer_for(claude()) is CLAUDE_AI
    assert importer_for(claude(turns=())) is CLAUDE_AI
    assert importer_for(chatgpt()) is not CLAUDE_AI
    assert importer_for({"chat_messages": [{"message_id": 1, "parent_id": 0}]}) is None
    with pytest.raises(UnreadableImport):
        CLAUDE_AI.parse({"chat_messages": [{"sender": "human"}]})


_anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["text", "tool_use", "tool_result", "thinking", "human", "artifacts", "m0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "text",
                    "content",
                    "input",
                    "name",
                    "file_name",
                    "citations",
                    "details",
                    "summaries",
                    "url",
                    "source",
                    "x",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=80, deadline=None)
@given(contents=st.lists(_anything, min_size=1, max_size=4), rest=_anything)
def test_no_structure_makes_the_parser_fall_over(contents: list[Any], rest: Any) -> None:
    messages = [
        {
            "uuid": f"m{place}",
            "sender": "human",
            "content": content,
            "text": rest,
            "attachments": rest,
            "files": rest,
            "created_at": rest,
            "parent_message_uuid": rest,
        }
        for place, content in enumerate(contents)
    ]
    parsed = CLAUDE_AI.parse(
        claude(name=rest, created_at=rest, project=rest) | {"chat_messages": messages}
    )
    ids = [message.external_id for message in parsed.messages]
    assert len(ids) == len(set(ids)) == len(contents)
    assert set(parsed.shown_line) <= set(ids)


def test_the_summary_is_kept_and_a_project_without_a_name_goes_by_its_id() -> None:
    parsed = CLAUDE_AI.parse(claude(summary="On kilns.", project={"uuid": "project-1"}))
    assert parsed.extra == {"summary": "On kilns."}
    assert parsed.project == "project-1"
    assert CLAUDE_AI.parse(claude(project_uuid="project-2")).project == "project-2"


def test_messages_of_a_snapshot_without_ids_are_known_by_their_words() -> None:
    messages = [
        {"index": 1, "sender": "assistant", "text": "About 1,240 °C."},
        {"index": 0, "sender": "human", "text": "How hot?", "uuid": "m-0"},
    ]
    parsed = CLAUDE_AI.parse({"uuid": "c", "snapshot_name": "Kiln", "chat_messages": messages})
    assert [(m.text, m.has_weak_id) for m in parsed.messages] == [
        ("How hot?", False),
        ("About 1,240 °C.", True),
    ]
