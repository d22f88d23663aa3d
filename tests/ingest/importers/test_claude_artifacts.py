"""Claude's artifacts in the three forms that they have had."""

from typing import Any

from backread.domain import ArtifactCommand, Aside, MessageKind, ParsedMessage
from ingest.importers.claude_ai import CLAUDE_AI
from tests.ingest.exports import claude, claude_message


def _read(sender: str, text: str, content: Any = None) -> ParsedMessage:
    message = claude_message("m", sender, text, content=content)
    return CLAUDE_AI.parse(claude(turns=(message,))).messages[0]


def _call(name: str, **given: Any) -> Aside:
    block = {"type": "tool_use", "id": "t", "name": name, "input": given}
    (aside,) = _read("assistant", "", [block]).asides
    return aside


def test_a_created_artifact_has_its_id_title_type_language_and_text() -> None:
    aside = _call(
        "artifacts",
        command="create",
        id="pond",
        title="Pond",
        type="application/vnd.ant.code",
        language="python",
        content="depth = 2",
    )
    assert (aside.kind, aside.name, aside.text) == ("artifact", "Pond", "depth = 2")
    step = aside.artifact
    assert step is not None
    assert (step.artifact_id, step.command) == ("pond", ArtifactCommand.CREATE)
    assert (step.title, step.type) == ("Pond", "application/vnd.ant.code")
    assert step.language == "python"


def test_an_update_carries_what_is_replaced_by_what() -> None:
    step = _call("artifacts", command="update", id="pond", old_str="2", new_str="3").artifact
    assert step is not None
    assert step.command is ArtifactCommand.UPDATE
    (patch,) = step.patches
    assert (patch.old, patch.new, patch.is_pattern) == ("2", "3", False)


def test_a_rewrite_carries_the_whole_text() -> None:
    aside = _call("artifacts", command="rewrite", id="pond", content="depth = 4")
    assert aside.artifact is not None
    assert (aside.artifact.command, aside.text) == (ArtifactCommand.REWRITE, "depth = 4")


def test_files_of_newer_chats_are_artifacts_by_their_path() -> None:
    path = "/mnt/user-data/outputs/pond.md"
    made = _call("create_file", path=path, file_text="# Pond", description="A plan")
    changed = _call("str_replace", path=path, old_str="Pond", new_str="Pool")
    edited = _call("str_replace_based_edit_tool", command="create", path=path, file_text="# Lake")
    steps = [each.artifact for each in (made, changed, edited)]
    assert [step and step.artifact_id for step in steps] == [path] * 3
    assert [step and step.title for step in steps] == ["pond.md"] * 3
    assert [step and step.command.value for step in steps] == ["create", "update", "create"]
    assert made.text == "# Pond"


def test_other_calls_with_a_path_stay_tool_calls() -> None:
    assert _call("view", path="/etc/hosts").kind == "tool_call"
    assert _call("create_file", path="/x").kind == "tool_call"


def test_tags_of_older_chats_leave_the_words_and_become_artifacts() -> None:
    text = (
        "Here it is.\n\n<antThinking>A page is best.</antThinking>\n\n"
        '<antArtifact identifier="pond" type="text/html" title="Pond">\n<p>Two deep</p>\n'
        "</antArtifact>\n\nAnything else?"
    )
    message = _read("assistant", text)
    assert message.text == "Here it is.\n\nAnything else?"
    thought, aside = message.asides
    assert (thought.kind, thought.text) == ("reasoning", "A page is best.")
    assert (aside.name, aside.text) == ("Pond", "<p>Two deep</p>")
    assert aside.artifact is not None
    assert (aside.artifact.artifact_id, aside.artifact.type) == ("pond", "text/html")


def test_an_answer_that_was_cut_off_inside_a_tag_keeps_what_there_is() -> None:
    message = _read("assistant", '<antArtifact identifier="pond" title="Pond">\nhalf a li')
    assert message.asides[0].text == "half a li"
    assert message.kind is MessageKind.TOOL


def test_a_person_may_write_about_the_tags() -> None:
    text = 'What does <antArtifact identifier="x">a</antArtifact> do?'
    message = _read("human", text)
    assert (message.text, message.asides) == (text, ())


def test_many_open_tags_take_no_time() -> None:
    message = _read("assistant", "<antArtifact a>" * 50_000)
    assert len(message.asides) == 1
