"""ChatGPT's canvas: calls to `canmore`, and the ids that only its replies know."""

import json
from typing import Any

import pytest

from backread.domain import ArtifactCommand, ArtifactStep, MessageKind
from ingest.importers.chatgpt import CHATGPT
from tests.ingest.exports import chatgpt, chatgpt_message


def _call(tool: str, given: Any) -> dict[str, Any]:
    said = given if isinstance(given, str) else json.dumps(given)
    content = {"content_type": "code", "language": "json", "text": said}
    return chatgpt_message("assistant", "", content=content, recipient=f"canmore.{tool}")


def _reply(textdoc_id: str = "doc-1", **more: Any) -> dict[str, Any]:
    canvas = {"textdoc_id": textdoc_id, "textdoc_type": "document", "version": 1} | more
    return chatgpt_message("tool", "Successfully done.", metadata={"canvas": canvas})


def _steps(*turns: Any) -> list[tuple[ArtifactStep, str]]:
    parsed = CHATGPT.parse(chatgpt(turns=turns))
    assert parsed.news == {}
    asides = [aside for message in parsed.messages for aside in message.asides]
    return [(aside.artifact, aside.text) for aside in asides if aside.artifact]


def test_a_new_document_has_its_title_type_language_and_the_replys_id() -> None:
    given = {"name": "Bee page", "type": "code/html", "content": "<p>Bees</p>"}
    ((step, text),) = _steps("Go", _call("create_textdoc", given), _reply())
    assert step.command is ArtifactCommand.CREATE
    assert (step.artifact_id, step.title) == ("doc-1", "Bee page")
    assert (step.type, step.language) == ("code/html", "html")
    assert text == "<p>Bees</p>"


@pytest.mark.parametrize("pattern", [".*", "^.*$", "(?s).*"])
def test_a_pattern_that_takes_everything_writes_the_document_anew(pattern: str) -> None:
    update = {"updates": [{"pattern": pattern, "multiple": False, "replacement": r"New \d"}]}
    ((step, text),) = _steps("Go", _call("update_textdoc", update), _reply(title="Bees"))
    assert (step.command, step.artifact_id) == (ArtifactCommand.REWRITE, "doc-1")
    assert (step.title, text) == ("Bees", r"New \d")


def test_other_patterns_are_kept_as_changes() -> None:
    updates = [
        {"pattern": "wasp(s?)", "multiple": True, "replacement": r"bee\1"},
        {"pattern": "end", "multiple": False, "replacement": "End"},
    ]
    ((step, text),) = _steps("Go", _call("update_textdoc", {"updates": updates}), _reply())
    assert step.command is ArtifactCommand.UPDATE
    first, second = step.patches
    assert (first.old, first.new) == ("wasp(s?)", r"bee\1")
    assert (first.is_pattern, first.is_everywhere) == (True, True)
    assert not second.is_everywhere
    assert "wasp(s?)" in text


def test_comments_are_kept_with_the_words_they_are_about() -> None:
    comments = {"comments": [{"pattern": "bees", "comment": "Which kind?"}]}
    ((step, _),) = _steps("Go", _call("comment_textdoc", comments), _reply())
    assert step.command is ArtifactCommand.COMMENT
    assert [(each.old, each.new) for each in step.patches] == [("bees", "Which kind?")]


def test_calls_written_as_text_and_without_a_reply_are_read() -> None:
    given = json.dumps({"name": "Plan", "type": "document", "content": "1. Dig"})
    call = chatgpt_message("assistant", given, recipient="canmore.create_textdoc")
    ((step, text),) = _steps("Go", call)
    assert (step.artifact_id, step.title, text) == ("", "Plan", "1. Dig")


@pytest.mark.parametrize("given", ['{"name": "cut o', "[1]", '{"updates": []}', '{"content": 5}'])
def test_a_call_that_is_no_sound_json_is_kept_as_a_tool_call(given: str) -> None:
    parsed = CHATGPT.parse(chatgpt(turns=("Go", _call("create_textdoc", given))))
    message = parsed.messages[1]
    assert message.kind is MessageKind.TOOL
    assert given in message.text
    assert not message.asides


def test_a_persons_words_are_never_a_canvas() -> None:
    given = json.dumps({"name": "Plan", "type": "document", "content": "1. Dig"})
    asked = chatgpt_message("user", given, recipient="canmore.create_textdoc")
    (message,) = CHATGPT.parse(chatgpt(turns=(asked,))).messages
    assert (message.kind, message.text) == (MessageKind.DIALOGUE, given)
