"""Databases whose content or structure no program of the platform would write."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from tests.ingest.exports import import_files, write
from tests.ingest.stored import assert_sound, stored_texts

# Nothing here depends on the database that chats are stored in, so one is enough.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def _cursor(path: Path, *chats: tuple[str, Any]) -> Path:
    """A chat of one question each; the text is what the JSON makes of `question`."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        for name, question in chats:
            bubble = {"type": 1, "bubbleId": "b", "text": question}
            composer = {"composerId": name, "conversation": [bubble]}
            row = (f"composerData:{name}", json.dumps(composer))
            database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", row)
    return path


def test_what_utf8_cannot_hold_costs_only_itself(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = _cursor(tmp_path / "state.vscdb", ("a", "Half of a \ud83d smiley?"), ("b", 2**70))
    report = import_files(kernel, principal, path)
    assert report.state == "readable"
    assert report.totals.new == 1
    assert stored_texts(kernel, principal) == ["Half of a  smiley?"]
    assert_sound(kernel, principal)


def test_a_value_that_is_nested_too_deep_costs_only_itself(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    deep: Any = "deep"
    for _ in range(700):
        deep = [deep]
    path = _cursor(tmp_path / "state.vscdb", ("a", "Shallow?"), ("b", deep))
    report = import_files(kernel, principal, path)
    assert (report.state, report.totals.new) == ("readable", 1)
    assert stored_texts(kernel, principal) == ["Shallow?"]


@pytest.mark.parametrize("damage", [b"CREATE \xce\xce\xceLE", b"CREATE TABL\x00", b"\xff" * 12])
def test_a_ruined_structure_is_told_in_words(
    kernel: Kernel, principal: Principal, tmp_path: Path, damage: bytes
) -> None:
    whole = _cursor(tmp_path / "state.vscdb", ("a", "Anything?")).read_bytes()
    ruined = whole.replace(b"CREATE TABLE", damage)
    assert len(ruined) == len(whole)
    report = import_files(kernel, principal, write(tmp_path / "ruined.vscdb", ruined))
    assert report.state == "failed"
    assert report.error is not None
    assert report.error.code == "unreadable_import"
    assert "damaged" in report.error.message
