"""Digests of sessions that no tool should have written."""

import json
from typing import Any

import pytest

from recall.agents.digesting import SessionDigest, SessionMessage, digest
from recall.agents.graphing import graph_of


def digest_of(text: str, *asides: Any, role: str = "user") -> SessionDigest:
    message = SessionMessage("m", role, "dialogue", text, asides)
    found = digest([message], "/p")
    graph_of(found, [message])
    return found


def test_an_edit_that_an_editor_notes_by_itself_changes_its_file() -> None:
    found = digest_of("", {"kind": "artifact", "name": "/p/src/retry.go", "text": "cat a.md"})
    assert (found.writes, found.reads) == ({"src/retry.go": 1}, {})
    assert not found.commands


@pytest.mark.parametrize(
    "sentence",
    [
        "We use the new loom instead of ... nothing.",
        "We use ./ rather than ...",
        "We moved from ... to ;; at last.",
        "We are replacing ,,, with ::: here.",
    ],
)
def test_a_replacement_without_names_stays_a_statement(sentence: str) -> None:
    found = digest_of(sentence)
    assert [text for text, _ in found.decisions + found.conventions]


@pytest.mark.parametrize(
    "given", ['{"a":' * 20_000, "[" * 20_000, json.dumps({"command": "\ud800 | cat \ud800.md"}), ""]
)
def test_a_call_with_broken_arguments_does_not_end_the_reading(given: str) -> None:
    found = digest_of(
        "Hello there.",
        {"kind": "tool_call", "name": "Bash", "text": given},
        {"kind": "tool_call", "name": "Read", "text": '{"file_path": "/p/a.ts"}'},
        "no aside",
        {"kind": "tool_call", "name": None, "text": None},
    )
    assert found.reads["a.ts"] == 1
