"""The blocks of a Claude message: what is said and what stands beside it."""

import json
from typing import Any

import pytest

from backread.domain import MessageKind, ParsedMessage
from ingest.importers.claude_ai import CLAUDE_AI
from ingest.importers.claude_blocks import PLACEHOLDERS
from tests.ingest.exports import claude, claude_message


def _content(content: Any, text: str = "", **more: Any) -> ParsedMessage:
    """How one answer with these blocks is read."""
    message = claude_message("m", "assistant", text, content=content, **more)
    return CLAUDE_AI.parse(claude(turns=(message,))).messages[0]


def _asides(message: ParsedMessage) -> list[tuple[str, str, str]]:
    return [(aside.kind, aside.name, aside.text) for aside in message.asides]


def test_only_text_blocks_are_words_and_the_joined_text_is_not_used() -> None:
    message = _content(
        [
            {"type": "thinking", "thinking": "Let me see."},
            {"type": "text", "text": "Cone 6."},
            {"type": "text", "text": None},
            {"type": "text", "text": "That is 1,240 °C."},
        ],
        text="Let me see.\n\nCone 6. This block is not supported on your current device yet.",
    )
    assert message.text == "Cone 6.\n\nThat is 1,240 °C."
    assert _asides(message) == [("reasoning", "", "Let me see.")]
    assert message.kind is MessageKind.DIALOGUE


@pytest.mark.parametrize("content", [None, [], "", [None], "[]"])
def test_without_blocks_the_joined_text_is_the_message(content: Any) -> None:
    assert _content(content, text="Plain words.").text == "Plain words."


def test_the_joined_text_loses_thinking_and_placeholders() -> None:
    text = f"Hidden thought.\n```\n{PLACEHOLDERS[0]}\n```\nThe answer."
    message = _content([{"type": "thinking", "thinking": "Hidden thought."}], text=text)
    assert message.text.strip() == "The answer."


@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_placeholders_are_nobodys_words(placeholder: str) -> None:
    message = _content([{"type": "text", "text": f"```\n{placeholder}\n```"}], text=placeholder)
    assert message.text == ""
    assert message.kind is MessageKind.HIDDEN


def test_content_may_be_a_string_that_holds_the_blocks() -> None:
    blocks = json.dumps([{"type": "text", "text": "Inside a string."}])
    assert _content(blocks).text == "Inside a string."
    assert _content("[not json").text == "[not json"
    assert _content("[1, 2]").text == "[1, 2]"


def test_each_kind_of_block_stands_where_it_belongs() -> None:
    message = _content(
        [
            {"type": "tool_use", "name": "web_search", "message": "Searching", "input": {"q": "k"}},
            {
                "type": "tool_result",
                "name": "web_search",
                "content": [
                    {"type": "text", "text": "found"},
                    {"type": "knowledge", "title": "T", "url": "https://k.example", "text": "body"},
                    {"type": "local_resource", "name": "plot.png", "mime_type": "image/png"},
                    {"type": "image", "file_uuid": "f-9"},
                ],
            },
            {
                "type": "tool_use",
                "name": "artifacts",
                "input": {"command": "create", "title": "Plan", "content": "Dry for a week."},
            },
            {
                "type": "tool_use",
                "name": "artifacts",
                "input": {"command": "update", "id": "plan", "old_str": "week", "new_str": "month"},
            },
            {"type": "injected_prompt_block", "prompt": "Tuesday", "injection_source": "date"},
            {"type": "document", "title": "glaze.pdf", "file_uuid": "f-1"},
            {"type": "image", "file_uuid": "f-2", "source": {"media_type": "image/png"}},
            {"type": "token_budget", "remaining": 5},
            {"type": "voice_note", "text": "Spoken words."},
            {"type": "tool_use", "name": "empty", "input": None},
        ]
    )
    assert message.text == "Spoken words."
    assert _asides(message) == [
        ("tool_call", "web_search", 'Searching\n{\n  "q": "k"\n}'),
        ("tool_result", "web_search", "found\n\nT\nhttps://k.example\nbody"),
        ("artifact", "Plan", "Dry for a week."),
        ("artifact", "plan", "Replaced:\nweek\n\nBy:\nmonth"),
        ("injected", "date", "Tuesday"),
        ("tool_call", "empty", ""),
    ]
    assert [(each.name, each.external_id) for each in message.attachments] == [
        ("plot.png", ""),
        ("image", "f-9"),
        ("glaze.pdf", "f-1"),
        ("image", "f-2"),
    ]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ([{"type": "tool_use", "name": "x", "input": {}}], MessageKind.TOOL),
        ([{"type": "thinking", "thinking": "hm"}], MessageKind.REASONING),
        ([{"type": "injected_prompt_block", "prompt": "note"}], MessageKind.HIDDEN),
        ([], MessageKind.HIDDEN),
    ],
)
def test_messages_without_words_are_no_dialogue(content: Any, kind: MessageKind) -> None:
    assert _content(content).kind is kind


def test_a_file_that_stands_in_both_lists_is_one_attachment() -> None:
    message = _content(
        [{"type": "text", "text": "See."}],
        attachments=[
            {
                "file_name": "curve.csv",
                "file_size": 7,
                "file_type": "csv",
                "extracted_content": "1,2",
            }
        ],
        files=[{"file_uuid": "u-1", "file_name": "curve.csv"}, {"file_name": "photo.jpg"}],
    )
    assert [(a.name, a.external_id, a.size_bytes, a.text) for a in message.attachments] == [
        ("curve.csv", "u-1", 7, "1,2"),
        ("photo.jpg", "", None, ""),
    ]


def test_cited_links_are_kept() -> None:
    citation = {
        "start_index": 0,
        "end_index": 3,
        "details": {"type": "w", "url": "https://k.example"},
    }
    message = _content([{"type": "text", "text": "See", "citations": [citation, citation]}])
    assert [each.url for each in message.citations] == ["https://k.example"]


def test_results_without_text_are_their_structure_and_unknown_parts_are_news() -> None:
    blocks = [
        {"type": "tool_result", "name": "map", "content": [], "structured_content": {"km": 3}},
        {"type": "tool_result", "name": "map", "content": [{"type": "globe", "text": "Earth"}]},
    ]
    message = claude_message("m", "assistant", "", content=blocks)
    parsed = CLAUDE_AI.parse(claude(turns=(message,)))
    assert _asides(parsed.messages[0]) == [
        ("tool_result", "map", '{\n  "km": 3\n}'),
        ("tool_result", "map", "Earth"),
    ]
    assert parsed.news == {"tool_result:globe": 1}


def test_a_block_of_an_unknown_kind_without_text_is_kept_as_it_came() -> None:
    ((kind, name, text),) = _asides(_content([{"type": "hologram", "depth": 3}]))
    assert (kind, name) == ("unknown", "hologram")
    assert text == '{\n  "depth": 3\n}'
