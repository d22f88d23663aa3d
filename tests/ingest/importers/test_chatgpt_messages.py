"""Single messages of ChatGPT: content types, attachments, marks, what is hidden."""

from typing import Any

import pytest

from backread.domain import MessageKind, ParsedConversation, ParsedMessage
from ingest.importers.chatgpt import CHATGPT
from tests.ingest.exports import chatgpt, chatgpt_message


def _parse(*turns: Any, **more: Any) -> ParsedConversation:
    return CHATGPT.parse(chatgpt(turns=turns, **more))


def _message(message: dict[str, Any]) -> ParsedMessage:
    """How one message of a chat is read."""
    parsed = _parse("Hello", message)
    return parsed.messages[1]


def _content(content: Any, role: str = "assistant", **more: Any) -> ParsedMessage:
    return _message(chatgpt_message(role, "", **({"content": content} | more)))


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (chatgpt_message("system", "You are helpful."), MessageKind.SYSTEM),
        (chatgpt_message("user", "context", metadata={"is_user_system_message": True}), "hidden"),
        (chatgpt_message("assistant", "dropped", weight=0.0), MessageKind.HIDDEN),
        (
            chatgpt_message(
                "assistant", "x", metadata={"is_visually_hidden_from_conversation": True}
            ),
            MessageKind.HIDDEN,
        ),
        (chatgpt_message("assistant", '{"q": "swift"}', recipient="browser"), MessageKind.TOOL),
        (chatgpt_message("assistant", "User likes birds", recipient="bio"), MessageKind.TOOL),
        (chatgpt_message("assistant", "hm", channel="analysis"), MessageKind.REASONING),
        (chatgpt_message("assistant", "Looking it up", channel="commentary"), MessageKind.DIALOGUE),
        (chatgpt_message("tool", "result"), MessageKind.TOOL),
        (chatgpt_message("assistant", ""), MessageKind.HIDDEN),
        (chatgpt_message("assistant", "fine", metadata=None), MessageKind.DIALOGUE),
        (chatgpt_message("assistant", "fine", recipient=None), MessageKind.DIALOGUE),
    ],
)
def test_what_chatgpt_hides_is_kept_apart_from_the_dialogue(
    message: dict[str, Any], kind: str
) -> None:
    assert _message(message).kind == kind


@pytest.mark.parametrize(
    ("content", "text", "kind"),
    [
        ({"content_type": "text", "parts": ["a", None, "b"]}, "a\n\nb", "dialogue"),
        ({"parts": ["without a type"]}, "without a type", "dialogue"),
        ("a bare string", "a bare string", "dialogue"),
        (
            {"content_type": "code", "language": "python", "text": "print(1)"},
            "```python\nprint(1)\n```",
            "dialogue",
        ),
        (
            {"content_type": "code", "language": "unknown", "text": "a\n```\nb"},
            "````\na\n```\nb\n````",
            "dialogue",
        ),
        ({"content_type": "execution_output", "text": "42"}, "42", "tool"),
        (
            {
                "content_type": "tether_quote",
                "title": "Apus",
                "url": "https://b.example",
                "text": "x",
            },
            "Apus\nhttps://b.example\nx",
            "tool",
        ),
        ({"content_type": "tether_browsing_display", "result": "r", "summary": "s"}, "r", "tool"),
        ({"content_type": "tether_browsing_display", "summary": "s"}, "s", "tool"),
        (
            {"content_type": "system_error", "name": "Timeout", "text": "late"},
            "Timeout: late",
            "tool",
        ),
        (
            {
                "content_type": "user_editable_context",
                "user_profile": "p",
                "user_instructions": "i",
            },
            "p\n\ni",
            "hidden",
        ),
        ({"content_type": "model_editable_context", "model_set_context": "m"}, "m", "hidden"),
        (
            {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]},
            "s\n\nc",
            "reasoning",
        ),
        ({"content_type": "thoughts", "parts": ["older form"]}, "older form", "reasoning"),
        ({"content_type": "reasoning_recap", "content": "Thought 4s"}, "Thought 4s", "reasoning"),
        ({"content_type": "computer_initialize_state"}, "", "hidden"),
        ({"content_type": "tether_browsing_code", "text": "open(1)"}, "open(1)", "tool"),
        (
            {"content_type": "sonic_webpage", "title": "Apus", "url": "https://b.example"},
            "Apus\nhttps://b.example",
            "tool",
        ),
        (None, "", "hidden"),
    ],
)
def test_each_content_type_is_read(content: Any, text: str, kind: str) -> None:
    message = _content(content)
    assert (message.text, message.kind.value) == (text, kind)


def test_speech_is_its_transcript_and_the_recording_an_attachment() -> None:
    message = _content(
        {
            "content_type": "multimodal_text",
            "parts": [
                {"content_type": "audio_transcription", "text": "Good morning", "direction": "in"},
                {
                    "content_type": "real_time_user_audio_video_asset_pointer",
                    "audio_asset_pointer": {
                        "content_type": "audio_asset_pointer",
                        "asset_pointer": "sediment://file_0a1b",
                        "format": "wav",
                        "size_bytes": 99,
                    },
                },
            ],
        },
        role="user",
    )
    assert message.text == "Good morning"
    (recording,) = message.attachments
    assert (recording.external_id, recording.name, recording.size_bytes) == (
        "file_0a1b",
        "audio.wav",
        99,
    )


def test_pictures_and_files_are_named_once() -> None:
    message = _content(
        {
            "content_type": "multimodal_text",
            "parts": [
                {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-ab"},
                "What bird is this?",
            ],
        },
        role="user",
        metadata={
            "attachments": [
                {"id": "file-ab", "name": "bird.jpg", "mime_type": "image/jpeg", "size": 4096}
            ]
        },
    )
    (picture,) = message.attachments
    assert (picture.name, picture.mime_type, picture.size_bytes) == ("bird.jpg", "image/jpeg", 4096)
    assert message.text == "What bird is this?"


def test_the_prompt_of_a_made_picture_is_kept() -> None:
    message = _content(
        {
            "content_type": "multimodal_text",
            "parts": [
                {
                    "content_type": "image_asset_pointer",
                    "asset_pointer": "sediment://file_9",
                    "metadata": {"dalle": {"prompt": "A swift in ink"}},
                }
            ],
        },
        role="tool",
    )
    assert message.kind is MessageKind.TOOL
    assert [(aside.kind, aside.text) for aside in message.asides] == [
        ("artifact", "A swift in ink")
    ]


@pytest.mark.parametrize(
    ("text", "references", "shown"),
    [
        ("Late July \ue200cite\ue202turn0search3\ue201.", [], "Late July."),
        (
            "Late July \ue200cite\ue202turn0search3\ue201.",
            [
                {
                    "matched_text": "\ue200cite\ue202turn0search3\ue201",
                    "alt": "([BTO](https://b.example))",
                }
            ],
            "Late July ([BTO](https://b.example)).",
        ),
        ("Two words", [{"matched_text": " ", "alt": None}], "Two words"),
        (
            'By \ue200entity\ue202["people","Ada Byron","poet"]\ue201 herself',
            [],
            "By Ada Byron herself",
        ),
        ("a \ue203span\ue204 b \ue205c\ue206", [], "a span b c"),
        ("July【8†source】 and【12:3†notes.pdf】 August", [], "July and August"),
        ("cut off \ue200cite\ue202turn0sea", [], "cut off"),
        ("See \ue200filecite\ue202turn1file0\ue202L3-L9\ue201", [], "See"),
    ],
)
def test_citation_marks_are_replaced_or_dropped(
    text: str, references: list[Any], shown: str
) -> None:
    message = _message(
        chatgpt_message("assistant", text, metadata={"content_references": references})
    )
    assert message.text == shown


def test_a_long_run_of_blanks_beside_a_mark_is_read() -> None:
    """It must not be looked at again from each of its characters: that would not end in time."""
    blanks = " \t" * 300_000
    text = f"a \ue200cite\ue202turn0search0\ue201{blanks}b"
    assert _message(chatgpt_message("assistant", text)).text == f"a{blanks}b"


def test_cited_links_are_collected_once() -> None:
    link = {"title": "BTO", "url": "https://b.example/swift"}
    message = _message(
        chatgpt_message(
            "assistant",
            "x",
            metadata={
                "content_references": [{"type": "grouped_webpages", "items": [link]}],
                "citations": [{"metadata": {"title": "Other", "url": "https://c.example"}}],
                "_cite_metadata": {"metadata_list": [link, {"url": "javascript:alert(1)"}]},
            },
        )
    )
    assert [(each.title, each.url) for each in message.citations] == [
        ("BTO", "https://b.example/swift"),
        ("Other", "https://c.example"),
    ]


def test_what_run_code_printed_and_drew_and_what_a_search_found_stand_beside() -> None:
    metadata = {
        "aggregate_result": {
            "messages": [
                {"message_type": "stream", "stream_name": "stdout", "text": "12 hives\n"},
                {"message_type": "image", "image_url": "file-service://file-plot"},
            ]
        },
        "search_result_groups": [
            {
                "domain": "example.org",
                "entries": [{"title": "Hives", "url": "https://example.org/hives"}],
            }
        ],
    }
    content = {"content_type": "execution_output", "text": "None"}
    message = _message(chatgpt_message("tool", "", content=content, metadata=metadata))
    assert (message.text, message.kind) == ("None", MessageKind.TOOL)
    assert [(aside.kind, aside.name, aside.text) for aside in message.asides] == [
        ("tool_result", "output", "12 hives\n"),
        ("tool_result", "search results", "Hives\nhttps://example.org/hives"),
    ]
    assert [file.external_id for file in message.attachments] == ["file-plot"]


def test_a_screen_that_chatgpt_looked_at_is_named_with_its_picture() -> None:
    content = {
        "content_type": "computer_output",
        "screenshot": {"asset_pointer": "sediment://file_shot", "size_bytes": 10},
        "state": {"title": "Bee shop", "url": "https://example.org/shop"},
    }
    message = _message(chatgpt_message("tool", "", content=content))
    assert message.text == "Bee shop\nhttps://example.org/shop"
    assert [file.external_id for file in message.attachments] == ["file_shot"]
    assert message.kind is MessageKind.TOOL


def test_what_a_paired_app_told_is_not_the_persons_words() -> None:
    content = {
        "content_type": "app_pairing_content",
        "context_parts": [{"content_type": "workspace", "text": "fn main() {}"}],
    }
    message = _message(chatgpt_message("user", "", content=content))
    assert message.kind is MessageKind.HIDDEN
    assert [aside.text for aside in message.asides] == ["fn main() {}"]


def test_a_part_of_an_unknown_kind_is_kept_as_it_came() -> None:
    part = {"content_type": "hologram", "depth": 3}
    content = {"content_type": "multimodal_text", "parts": ["Look", part]}
    message = _message(chatgpt_message("user", "", content=content))
    assert message.text == "Look"
    (aside,) = message.asides
    assert (aside.kind, aside.name) == ("unknown", "hologram")
    assert '"depth": 3' in aside.text


def test_a_message_without_metadata_author_or_time_is_read() -> None:
    bare = {"content": {"content_type": "text", "parts": ["Hello"]}, "author": {"role": "user"}}
    (message,) = CHATGPT.parse(chatgpt(turns=(bare,))).messages
    assert (message.text, message.kind) == ("Hello", MessageKind.DIALOGUE)
    assert (message.created_at, message.model) == (None, "")
