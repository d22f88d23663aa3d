"""What ChatGPT's conversations tell of its memory."""

from datetime import UTC, datetime
from typing import Any

from backread.domain import ParsedMemory
from ingest.importers.chatgpt import CHATGPT
from tests.exports import NOON, chatgpt_node, chatgpt_tree

WHEN = datetime.fromtimestamp(NOON, UTC)


def memories(*nodes: dict[str, Any]) -> list[ParsedMemory]:
    return list(CHATGPT.parse(chatgpt_tree("chat", nodes)).memories)


def bio(node_id: str, parent: str | None, text: str, **more: Any) -> dict[str, Any]:
    return chatgpt_node(node_id, parent, "assistant", text, recipient="bio", **more)


def context(node_id: str, **content: Any) -> dict[str, Any]:
    return chatgpt_node(node_id, None, "assistant", "", content=content)


def test_what_the_model_wrote_to_its_memory_is_offered_with_its_message() -> None:
    found = memories(
        chatgpt_node("q", None, "user", "Remember that I fire at cone 6."),
        bio("b", "q", "Fires at cone 6."),
        chatgpt_node("t", "b", "tool", "Model set context updated."),
        chatgpt_node("a", "t", "assistant", "Noted."),
    )
    assert found == [ParsedMemory("Fires at cone 6.", "Saved memory", WHEN, "b")]


def test_a_memory_written_as_code_and_on_another_branch_is_offered() -> None:
    found = memories(
        chatgpt_node("q", None, "user", "Remember it."),
        bio("b", "q", "", content={"content_type": "code", "text": "Has a kiln."}),
        bio("c", "q", "Has a wheel."),
    )
    assert [each.text for each in found] == ["Has a kiln.", "Has a wheel."]


def test_what_was_forgotten_again_is_not_offered() -> None:
    found = memories(
        bio("a", None, "User is looking for an oven."),
        bio("b", "a", "Has two daughters."),
        bio("c", "b", "Forget that the user is looking for an oven"),
        bio("d", "c", ""),
    )
    assert [each.text for each in found] == ["Has two daughters."]


def test_the_list_of_saved_memories_is_read_line_by_line_with_its_days() -> None:
    listed = (
        "# Model Set Context\n\n1. [2024-05-01]. Lives in Lisbon.\n\n2. [2024-06-02] Fires:\n"
        "stoneware\n3. No date here.\n"
    )
    found = memories(context("m", content_type="model_editable_context", model_set_context=listed))
    assert found == [
        ParsedMemory("Lives in Lisbon.", "Saved memory", datetime(2024, 5, 1, tzinfo=UTC), "m"),
        ParsedMemory("Fires:\nstoneware", "Saved memory", datetime(2024, 6, 2, tzinfo=UTC), "m"),
        ParsedMemory("No date here.", "Saved memory", None, "m"),
    ]


def test_custom_instructions_are_two_texts_without_what_chatgpt_wraps_them_in() -> None:
    node = context(
        "u",
        content_type="user_editable_context",
        user_profile="The user provided the following:\n```I run a pottery.\nIn Porto.```",
        user_instructions="Be brief.",
    )
    assert [(each.source, each.text) for each in memories(node)] == [
        ("Custom instructions: about you", "I run a pottery.\nIn Porto."),
        ("Custom instructions: how to answer", "Be brief."),
    ]


def test_custom_instructions_are_taken_from_the_metadata_where_they_stand_bare() -> None:
    node = chatgpt_node(
        "u",
        None,
        "user",
        "",
        content={"content_type": "user_editable_context", "user_profile": "wrapped ```x```"},
        metadata={"user_context_message_data": {"about_user_message": "Use ```code``` freely."}},
    )
    assert [each.text for each in memories(node)] == ["Use ```code``` freely."]


def test_odd_shapes_offer_nothing_and_break_nothing() -> None:
    assert (
        memories(
            context("a", content_type="model_editable_context", model_set_context=None),
            context("b", content_type="user_editable_context", user_profile=["x"]),
            chatgpt_node("c", None, "assistant", "", recipient="bio", content=None),
            chatgpt_node("d", None, "assistant", "", recipient="bio", content={"parts": [None, 3]}),
        )
        == []
    )
