import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backread.domain import ParsedConversation, ParsedMessage, Role
from backread.errors import UnreadableImport
from ingest.importers import importer_for
from ingest.importers.chatgpt import CHATGPT, with_asset_names
from ingest.json_stream import load
from tests.ingest.exports import NOON, as_json, chatgpt, chatgpt_message

FIXTURES = Path(__file__).parents[2] / "fixtures" / "exports" / "chatgpt"


def _parse(*turns: Any, **more: Any) -> ParsedConversation:
    return CHATGPT.parse(chatgpt(turns=turns, **more))


def _message(message: dict[str, Any]) -> ParsedMessage:
    """How one message of a chat is read."""
    parsed = _parse("Hello", message)
    return parsed.messages[1]


def _line(parsed: ParsedConversation) -> list[str]:
    texts = {message.external_id: message.text for message in parsed.messages}
    return [texts[external_id] for external_id in parsed.shown_line]


def test_a_chat_is_read_with_its_words_times_title_and_address() -> None:
    parsed = _parse("When do swifts leave?", "At the end of July.", title="Swifts")
    assert parsed.title == "Swifts"
    assert parsed.url == "https://chatgpt.com/c/conv-1"
    assert parsed.created_at == datetime(2024, 3, 5, 12, tzinfo=UTC)
    assert [m.text for m in parsed.messages] == ["When do swifts leave?", "At the end of July."]
    assert [m.role for m in parsed.messages] == [Role.USER, Role.ASSISTANT]
    assert parsed.messages[1].created_at == datetime(2024, 3, 5, 12, 1, tzinfo=UTC)
    assert parsed.messages[1].parent_external_id == parsed.messages[0].external_id
    assert parsed.news == {}


def test_a_whole_export_of_many_shapes_reads_as_expected() -> None:
    raw = json.loads((FIXTURES / "many_shapes.json").read_bytes())
    expected = json.loads((FIXTURES / "many_shapes.expected.json").read_bytes())
    parsed = [CHATGPT.parse(conversation) for conversation in raw]
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


def test_edits_and_regenerated_answers_are_branches_beside_the_shown_line() -> None:
    raw = chatgpt(turns=("Name a swift", "Apus apus"))
    raw["mapping"]["other"] = {
        "id": "other",
        "parent": "conv-1-n0",
        "children": [],
        "message": chatgpt_message("assistant", "Taylor", at=NOON + 999),
    }
    raw["mapping"]["conv-1-n0"]["children"].append("other")
    parsed = CHATGPT.parse(raw)
    assert _line(parsed) == ["Name a swift", "Apus apus"]
    assert {m.text for m in parsed.messages} == {"Name a swift", "Apus apus", "Taylor"}
    raw["current_node"] = "other"
    assert _line(CHATGPT.parse(raw)) == ["Name a swift", "Taylor"]


@pytest.mark.parametrize("current", [None, "no such node", 7])
def test_without_a_usable_current_node_the_newest_leaf_is_shown(current: Any) -> None:
    raw = chatgpt(turns=("Name a swift", "Apus apus"), current_node=current)
    raw["mapping"]["other"] = {
        "id": "other",
        "parent": "conv-1-n0",
        "message": chatgpt_message("assistant", "Chaetura", at=NOON + 999),
    }
    assert _line(CHATGPT.parse(raw)) == ["Name a swift", "Chaetura"]


def test_of_leaves_without_times_the_longest_chain_is_shown() -> None:
    turns = [
        chatgpt_message("user" if n % 2 == 0 else "assistant", str(n), at=None) for n in range(4)
    ]
    raw = chatgpt(turns=turns, current_node=None)
    raw["mapping"]["short"] = {
        "id": "short",
        "parent": "conv-1-n0",
        "message": chatgpt_message("assistant", "short", at=None),
    }
    assert _line(CHATGPT.parse(raw)) == ["0", "1", "2", "3"]


def test_a_current_node_without_a_message_stands_for_the_one_above() -> None:
    raw = chatgpt()
    raw["mapping"]["end"] = {"id": "end", "parent": raw["current_node"], "message": None}
    raw["current_node"] = "end"
    assert _line(CHATGPT.parse(raw)) == ["When do swifts leave?", "At the end of July."]


def test_parent_links_are_enough_and_children_are_enough() -> None:
    expected = ["When do swifts leave?", "At the end of July."]
    without_children = chatgpt()
    for node in without_children["mapping"].values():
        node.pop("children")
    assert _line(CHATGPT.parse(without_children)) == expected
    without_parents = chatgpt()
    for node in without_parents["mapping"].values():
        node.pop("parent")
    assert _line(CHATGPT.parse(without_parents)) == expected


def test_nodes_without_any_links_are_a_chat_in_their_order() -> None:
    raw = chatgpt(current_node=None)
    raw["mapping"] = {
        key: {"id": key, "message": node["message"]} for key, node in raw["mapping"].items()
    }
    assert _line(CHATGPT.parse(raw)) == ["When do swifts leave?", "At the end of July."]


def test_circles_of_parents_end_and_lose_no_message() -> None:
    raw = chatgpt(turns=("a", "b", "c"))
    raw["mapping"]["conv-1-n0"]["parent"] = "conv-1-n2"
    parsed = CHATGPT.parse(raw)
    assert sorted(m.text for m in parsed.messages) == ["a", "b", "c"]
    assert _line(parsed)[-1] == "c"
    seen: set[str] = set()
    for message in parsed.messages:
        assert message.parent_external_id is None or message.parent_external_id in seen
        seen.add(message.external_id)


def test_orphans_and_further_roots_are_kept() -> None:
    raw = chatgpt()
    raw["mapping"]["orphan"] = {
        "id": "orphan",
        "parent": "gone",
        "message": chatgpt_message("user", "Where is my answer?"),
    }
    parsed = CHATGPT.parse(raw)
    assert "Where is my answer?" in {m.text for m in parsed.messages}
    assert "Where is my answer?" not in _line(parsed)


def test_names_from_the_archives_list_go_into_the_capture() -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_77"}
    turn = chatgpt_message("user", "")
    turn["content"] = {"content_type": "multimodal_text", "parts": [picture, "See?"]}
    raw = chatgpt(turns=(turn, "Yes."))
    body = with_asset_names(raw, as_json(raw), {"file_77.dat": "plan.png", "file_1.dat": "else"})
    message = CHATGPT.parse(load(body)).messages[0]
    assert [attachment.name for attachment in message.attachments] == ["plan.png"]
    untouched = as_json(chatgpt())
    assert with_asset_names(chatgpt(), untouched, {"file_77.dat": "plan.png"}) == untouched


def test_unknown_shapes_are_counted_and_lose_nothing_else() -> None:
    parsed = _parse(
        "Hello",
        chatgpt_message("assistant", "", content={"content_type": "hologram", "parts": ["words"]}),
        chatgpt_message(
            "user", "", content={"content_type": "text", "parts": ["a", {"content_type": "smell"}]}
        ),
        chatgpt_message("critic", "who am I?"),
    )
    assert parsed.news == {"content_type:hologram": 1, "part:smell": 1, "role:critic": 1}
    assert [m.text for m in parsed.messages] == ["Hello", "words", "a", "who am I?"]


@pytest.mark.parametrize(
    ("value", "year"),
    [
        (1709640000.5, 2024),
        ("2024-03-05T12:00:00.123456Z", 2024),
        ("2024-03-05T12:00:00", 2024),
        (1709640000123, 2024),
        ("1709640000.25", 2024),
        (0, None),
        (None, None),
        (-5, None),
        (True, None),
        (1e300, None),
        ("0001-01-01T00:00:00Z", None),
        ("yesterday", None),
        ({}, None),
    ],
)
def test_times_are_read_in_every_form_and_never_invented(value: Any, year: int | None) -> None:
    parsed = _parse(chatgpt_message("user", "hi", at=value), create_time=value)
    for moment in (parsed.created_at, parsed.messages[0].created_at):
        assert (moment.year if moment else None) == year


def test_projects_and_custom_gpts_are_told_apart() -> None:
    project = _parse(
        "a", gizmo_id="g-p-abc", gizmo_type="snorlax", conversation_template_id="g-p-abc"
    )
    assert project.project == "g-p-abc"
    assert project.extra == {}
    custom = _parse("a", gizmo_id="g-bird", gizmo_type="gpt")
    assert custom.project == ""
    assert custom.extra == {"custom_gpt": "g-bird"}


def test_a_missing_title_and_missing_ids_are_survived() -> None:
    raw = chatgpt(title=None)
    del raw["conversation_id"]
    parsed = CHATGPT.parse(raw)
    assert parsed.title == ""
    assert parsed.external_id == "node:conv-1-n0"
    assert parsed.url == ""
    with pytest.raises(UnreadableImport):
        CHATGPT.parse({"mapping": {}, "current_node": None})


def test_recognised_by_structure_alone() -> None:
    assert importer_for(chatgpt()) is CHATGPT
    older = chatgpt()
    del older["current_node"]
    assert importer_for(older) is CHATGPT
    deepseek = {
        "id": "d",
        "inserted_at": "2026-01-01T00:00:00+08:00",
        "mapping": {"1": {"id": "1", "message": {"fragments": [{"type": "REQUEST"}]}}},
    }
    assert importer_for(deepseek) is not CHATGPT
    assert importer_for({"mapping": []}) is None
    assert importer_for([chatgpt()]) is None


_anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["text", "code", "thoughts", "user", "assistant", "multimodal_text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "message",
                    "parent",
                    "children",
                    "content",
                    "parts",
                    "author",
                    "role",
                    "metadata",
                    "content_type",
                    "attachments",
                    "content_references",
                    "create_time",
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
@given(mapping=st.dictionaries(st.sampled_from("abcde"), _anything, max_size=5), rest=_anything)
def test_no_structure_makes_the_parser_fall_over(mapping: Any, rest: Any) -> None:
    for node in mapping.values():
        if isinstance(node, dict):
            node.setdefault("parent", "a")
            node.setdefault("message", {"author": rest, "content": rest, "metadata": rest})
    raw = {
        "id": "c",
        "mapping": mapping,
        "current_node": rest,
        "title": rest,
        "create_time": rest,
        "gizmo_id": rest,
    }
    parsed = CHATGPT.parse(raw)
    ids = [message.external_id for message in parsed.messages]
    assert len(ids) == len(set(ids))
    assert set(parsed.shown_line) <= set(ids)


def test_pins_plugins_and_the_voice_are_kept() -> None:
    parsed = CHATGPT.parse(
        chatgpt(pinned_time=1_740_000_000.5, plugin_ids=["plugin-1", None], voice="cove")
    )
    assert parsed.extra == {"is_pinned": True, "plugins": ["plugin-1"], "voice": "cove"}
