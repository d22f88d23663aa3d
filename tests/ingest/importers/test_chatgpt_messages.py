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
