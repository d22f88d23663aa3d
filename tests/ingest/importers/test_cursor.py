import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backread.domain import MessageKind, ParsedConversation, Principal
from backread.errors import UnreadableImport
from backread.kernel import Kernel
from ingest.importers.cursor import CURSOR
from tests.ingest.exports import as_zip, import_files, write
from tests.ingest.importers.parsing import (
    EXPORTS,
    beside,
    parse_bytes,
    parse_file,
    parse_lines,
    said,
)


def _database(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as database:
        database.executescript((EXPORTS / "cursor" / "state.sql").read_text())
        database.commit()
    return path.read_bytes()


@pytest.fixture
def chats(tmp_path: Path) -> dict[str, ParsedConversation]:
    parsed = parse_bytes(_database(tmp_path / "made.db"))
    return {each.external_id: each for each in parsed}


def test_headers_give_the_order_and_orphans_are_left_out(
    chats: dict[str, ParsedConversation],
) -> None:
    parsed = chats["c-1"]
    assert (parsed.title, parsed.project, parsed.model) == ("The mill", "/home/ada/mill", "sonnet")
    assert parsed.created_at == datetime(2024, 1, 16, tzinfo=UTC)
    assert said(parsed) == [
        "user: Why is the flour coarse?",
        "assistant: The stone is worn.",
        "user: Dress it then.",
    ]
    assert [a.name for a in parsed.messages[0].attachments] == ["log.txt", "image"]
    assert parsed.news == {"bubble:missing": 1}


def test_thinking_and_tools_stand_apart(chats: dict[str, ParsedConversation]) -> None:
    parsed = chats["c-1"]
    assert beside(parsed) == [
        ("reasoning", "", "Look at it."),
        ("tool_call", "read_file", '{"path":"log.txt"}'),
        ("tool_result", "read_file", "worn"),
    ]
    assert parsed.messages[2].kind is MessageKind.TOOL


def test_older_composers_and_tabs_are_read(chats: dict[str, ParsedConversation]) -> None:
    assert sorted(chats) == ["c-1", "c-3", "t-1", "w-1"]
    assert said(chats["c-3"]) == ["user: Old way?", "assistant: Old way."]
    assert chats["c-3"].news == {"bubble:7": 1}
    assert said(chats["t-1"]) == ["user: Which grain?", "assistant: Rye."]
    assert chats["t-1"].updated_at == datetime.fromtimestamp(1690000000, UTC)
    assert said(chats["w-1"]) == ["user: Here?"]


def test_a_transcript_is_read_with_the_persons_words_alone() -> None:
    (parsed,) = parse_file("cursor", "transcript.jsonl")
    assert said(parsed) == [
        "user: How fast is the wheel?",
        "assistant: Counting.",
        "assistant: Nine turns.",
    ]
    assert beside(parsed) == [
        ("injected", "", "<open_files>log.txt</open_files>"),
        ("tool_call", "Read", '{\n  "path": "log.txt"\n}'),
    ]
    assert parsed.news == {}


def test_what_is_unknown_is_news() -> None:
    parsed = parse_lines(
        {"role": "user", "message": {"content": [{"type": "hologram"}, {"type": "text"}]}},
        {"role": "robot", "message": {"content": "beep"}},
        {"type": "fireworks"},
    )
    assert parsed.news == {"block:hologram": 1, "role:robot": 1, "line:fireworks": 1}
    with pytest.raises(UnreadableImport):
        CURSOR.parse({"backread_composer": {}})


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_database_is_imported_once_and_a_damaged_one_as_far_as_it_goes(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    whole = _database(tmp_path / "made.db")
    report = import_files(
        kernel, principal, as_zip({"User/state.vscdb": whole}, tmp_path / "cursor.zip")
    )
    assert (report.totals.new, report.totals.failed) == (4, 0)
    assert report.platforms == {"cursor": 4}
    again = import_files(kernel, principal, write(tmp_path / "copy", whole))
    assert again.totals.unchanged == 4
    broken = whole[:4096] + b"\xff" * (len(whole) - 4096)
    damaged = import_files(kernel, principal, write(tmp_path / "broken.vscdb", broken))
    assert damaged.state == "failed"
    assert damaged.error is not None
    assert "damaged" in damaged.error.message
    assert not list(kernel.settings.uploads_dir.iterdir())


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_another_database_says_what_it_is(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE birds (name TEXT)")
        database.commit()
    report = import_files(kernel, principal, path)
    assert report.error is not None
    assert "an SQLite database" in report.error.message
