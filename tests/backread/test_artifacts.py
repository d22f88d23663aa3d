"""Artifacts as a fold over stored messages."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from backread.artifacts import Artifact, artifacts_of

NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    id: str
    created_at: datetime | None = NOON
    asides: list[Any] = field(default_factory=list)


def step(command: str, text: str = "", artifact_id: str = "a", **more: Any) -> dict[str, Any]:
    artifact = {"artifact_id": artifact_id, "command": command, "patches": []} | more
    return {"kind": "artifact", "text": text, "name": "", "artifact": artifact}


def pattern(old: str, new: str, *, everywhere: bool = False) -> dict[str, Any]:
    return {"old": old, "new": new, "is_pattern": True, "is_everywhere": everywhere}


def words(old: str, new: str) -> dict[str, Any]:
    return {"old": old, "new": new, "is_pattern": False, "is_everywhere": False}


def fold(*steps: dict[str, Any]) -> list[Artifact]:
    return artifacts_of(Said(f"m{n}", asides=[each]) for n, each in enumerate(steps))


def texts(artifact: Artifact) -> list[str]:
    return [version.text for version in artifact.versions]


def test_each_step_is_a_version_with_its_whole_text() -> None:
    (artifact,) = fold(
        step("create", "one two", title="Numbers", type="text/plain"),
        step("update", "as it came", patches=[words("two", "three")]),
        step("rewrite", "all new"),
    )
    assert (artifact.title, artifact.type) == ("Numbers", "text/plain")
    assert texts(artifact) == ["one two", "one three", "all new"]
    assert [version.message_id for version in artifact.versions] == ["m0", "m1", "m2"]
    assert [version.number for version in artifact.versions] == [1, 2, 3]
    assert artifact.latest.created_at == NOON
    assert not any(version.problem for version in artifact.versions)


def test_a_change_that_does_not_apply_is_kept_as_it_came_and_says_so() -> None:
    (artifact,) = fold(
        step("create", "one two"),
        step("update", "Replaced:\nten", patches=[words("ten", "x")]),
        step("update", patches=[words("one", "1")]),
    )
    assert texts(artifact) == ["one two", "one two", "1 two"]
    broken = artifact.versions[1]
    assert broken.change == "Replaced:\nten"
    assert "not in the text before" in broken.problem


def test_a_change_with_several_replacements_applies_whole_or_not_at_all() -> None:
    (artifact,) = fold(
        step("create", "one two"),
        step("update", "raw", patches=[words("one", "1"), words("ten", "10")]),
    )
    assert artifact.latest.text == "one two"
    assert artifact.latest.problem


def test_patterns_replace_once_or_everywhere_with_their_groups() -> None:
    (artifact,) = fold(
        step("create", "a=1\nb=2\n"),
        step("update", patches=[pattern(r"(\w)=(\d)", r"\1: \2")]),
        step("update", patches=[pattern(r"(\d)", r"<\1>", everywhere=True)]),
        step("update", patches=[pattern("b.*", "rest")]),
    )
    assert texts(artifact)[1:] == ["a: 1\nb=2\n", "a: <1>\nb=<2>\n", "a: <1>\nrest"]


def test_a_step_without_an_id_is_of_the_document_worked_on_last() -> None:
    first, second = fold(
        step("create", "x", "", title="First"),
        step("create", "y", "", title="Second"),
        step("rewrite", "yy", ""),
    )
    assert (texts(first), texts(second)) == (["x"], ["y", "yy"])
    assert (first.number, second.number) == (1, 2)


def test_comments_stand_at_the_version_that_they_are_about() -> None:
    (artifact,) = fold(step("create", "x"), step("comment", patches=[pattern("x", "Too short.")]))
    (comment,) = artifact.latest.comments
    assert (comment.quote, comment.text) == ("x", "Too short.")


def test_a_change_to_what_was_never_made_here_is_kept() -> None:
    (artifact,) = fold(step("update", "Replaced:\na", patches=[words("a", "b")]))
    assert (artifact.latest.text, artifact.latest.change) == ("", "Replaced:\na")
    assert "not in this conversation" in artifact.latest.problem


@pytest.mark.parametrize(
    "hostile",
    [
        "(a+)+$",
        "(?=x)",
        r"(a)\1",
        "((((a{1,9}){1,9}){1,9}){1,9}){1,9}",
        "a{1000}" * 200,
        "(" * 3000,
        "[",
        "(.*)x|a",
        "\ud800",
    ],
)
def test_no_pattern_takes_long(hostile: str) -> None:
    steps = [step("create", "a" * 100_000)]
    steps += [step("update", "raw", patches=[pattern(hostile, "b", everywhere=True)])] * 30
    start = time.process_time()
    (artifact,) = fold(*steps)
    assert time.process_time() - start < 20
    assert len(artifact.versions) == 31
    assert all(len(version.text) <= 100_000 for version in artifact.versions)


def test_a_replacement_cannot_make_a_text_without_bounds() -> None:
    doubling = [pattern("(?s)^.*$", r"\g<0>\g<0>")]
    (artifact,) = fold(step("create", "ab"), *[step("update", patches=doubling)] * 40)
    assert max(map(len, texts(artifact))) <= 2_000_000
    assert artifact.latest.problem


def test_many_changes_to_a_long_document_stay_within_bounds() -> None:
    steps = [step("create", "a" * 1_000_000), *[step("update", patches=[words("a", "b")])] * 200]
    (artifact,) = fold(*steps)
    assert len({id(version.text) for version in artifact.versions}) < 30
    assert "too many changes" in artifact.latest.problem
