import hashlib
import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backread.domain import MessageKind, ParsedConversation, Principal
from backread.errors import UnreadableImport
from backread.kernel import Kernel
from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting import cut
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
    assert sorted(chats) == ["c-1", "c-3", "c-5", "t-1", "w-1"]
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


def test_transcripts_that_begin_with_the_same_question_are_two_chats() -> None:
    asked = {"role": "user", "message": {"content": "Go on"}}
    first, second = (
        parse_lines(asked, {"role": "assistant", "message": {"content": text}})
        for text in ("Done.", "Failed.")
    )
    grown = parse_lines(asked, {"role": "assistant", "message": {"content": "Done."}}, asked)
    assert first.external_id == grown.external_id != second.external_id


def test_what_is_unknown_is_news() -> None:
    parsed = parse_lines(
        {"role": "user", "message": {"content": [{"type": "hologram"}, {"type": "text"}]}},
        {"role": "robot", "message": {"content": "beep"}},
        {"type": "fireworks"},
    )
    assert parsed.news == {"block:hologram": 1, "role:robot": 1, "line:fireworks": 1}
    with pytest.raises(UnreadableImport):
        CURSOR.parse({"backread_composer": {}})


def test_the_list_of_composers_fills_in_what_a_composer_does_not_say(
    chats: dict[str, ParsedConversation],
) -> None:
    parsed = chats["c-5"]
    assert (parsed.title, parsed.project) == ("Named in the list", "/home/ada/weir")
    assert parsed.created_at == datetime.fromtimestamp(1705363200, UTC)
    assert parsed.is_archived


def _blob(body: bytes) -> tuple[str, bytes]:
    return hashlib.sha256(body).hexdigest(), body


def _field(number: int, body: bytes) -> bytes:
    return bytes([number << 3 | 2, len(body)]) + body


def _store(path: Path, *messages: Any, root: bytes = b"", as_hex: bool = True) -> bytes:
    """An agent's own database, its messages behind a root and one more list."""
    blobs = [_blob(m if isinstance(m, bytes) else json.dumps(m).encode()) for m in messages]
    inner = _blob(b"".join(_field(1, bytes.fromhex(own)) for own, _ in blobs[1:]))
    first = [_field(1, bytes.fromhex(own)) for own, _ in (blobs[0], inner)] if blobs else []
    # A number, a fixed field and a text stand between and behind the lists, as in real ones.
    top = _blob(root or b"".join([b"\x10\x96\x01", *first, _field(9, b"/home/ada"), b"\x1d1234"]))
    about = {"agentId": "a-1", "name": "The weir", "createdAt": 1705363200000}
    told = json.dumps(about | {"latestRootBlobId": top[0], "lastUsedModel": "sonnet"})
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
        database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        database.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?)", [*blobs, inner, top])
        value = told.encode().hex() if as_hex else told
        database.execute("INSERT INTO meta VALUES ('0', ?)", (value,))
        database.commit()
    return path.read_bytes()


_STORED: tuple[Any, ...] = (
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "<user_info>\nOS: x\n</user_info>"},
    {
        "role": "user",
        "content": [{"type": "text", "text": "<user_query>\nHow high?\n</user_query>"}],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "Measure."},
            {"type": "tool-call", "toolName": "Read", "args": {"path": "weir.txt"}},
        ],
    },
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolName": "Read", "result": "two metres"}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Two metres."}, {"type": "orb"}]},
    b"\x12\x03abc",
)


@pytest.mark.parametrize("as_hex", [True, False])
def test_an_agents_own_database_is_read_in_the_order_of_its_root(
    tmp_path: Path, as_hex: bool
) -> None:
    (parsed,) = parse_bytes(_store(tmp_path / "store.db", *_STORED, as_hex=as_hex))
    assert (parsed.external_id, parsed.title, parsed.model) == ("a-1", "The weir", "sonnet")
    assert parsed.created_at == datetime.fromtimestamp(1705363200, UTC)
    assert said(parsed) == ["user: How high?", "assistant: Two metres."]
    assert beside(parsed) == [
        ("reasoning", "", "Measure."),
        ("tool_call", "Read", '{\n  "path": "weir.txt"\n}'),
        ("tool_result", "Read", "two metres"),
        ("unknown", "orb", ""),
    ]
    kinds = [message.kind.value for message in parsed.messages]
    assert kinds == ["system", "hidden", "dialogue", "tool", "tool", "dialogue"]
    assert parsed.news == {"blob:unread": 1, "block:orb": 1}


@pytest.mark.parametrize("root", [b"\x0a", b"\x0a\xff\xff\xff\xff\xff", b"\x0f" * 40, b"\x80" * 40])
def test_a_root_that_is_no_list_ends_in_words_and_not_in_a_crash(
    tmp_path: Path, root: bytes
) -> None:
    (parsed,) = parse_bytes(_store(tmp_path / "store.db", root=root))
    assert parsed.messages == ()
    assert parsed.news == {"blob:unread": 1}


def test_an_agents_chat_over_the_limit_is_refused_in_words(tmp_path: Path) -> None:
    big = {"role": "assistant", "content": "x" * 2_000_000}
    body = _store(tmp_path / "store.db", *_STORED, big)
    settings = Settings(home=tmp_path, conversation_max_bytes=1024**2)
    (element,) = cut(Source("x", "x", len(body), lambda: iter([body])), settings)
    assert "larger than 1 MB" in element.problem


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_database_in_use_is_read_with_its_log_and_left_as_it_is(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = tmp_path / "User" / "globalStorage"
    folder.mkdir(parents=True)
    path = folder / "state.vscdb"
    with closing(sqlite3.connect(path)) as open_database:
        open_database.execute("PRAGMA journal_mode = WAL")
        open_database.executescript((EXPORTS / "cursor" / "state.sql").read_text())
        open_database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        chat = {"composerId": "c-9", "conversation": [{"type": 1, "text": "Only in the log?"}]}
        open_database.execute(
            "INSERT INTO cursorDiskKV VALUES ('composerData:c-9', ?)", (json.dumps(chat),)
        )
        open_database.commit()
        before = {each.name: each.read_bytes() for each in folder.iterdir()}
        assert before["state.vscdb-wal"]
        report = import_files(kernel, principal, tmp_path / "User")
        assert (report.totals.new, report.totals.failed) == (6, 0)
        assert {each.name: each.read_bytes() for each in folder.iterdir()} == before
        packed = {f"User/{name}": body for name, body in before.items()}
        again = import_files(kernel, principal, as_zip(packed, tmp_path / "User.zip"))
        assert (again.totals.unchanged, again.totals.found) == (6, 6)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_database_is_imported_once_and_a_damaged_one_as_far_as_it_goes(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    whole = _database(tmp_path / "made.db")
    report = import_files(
        kernel, principal, as_zip({"User/state.vscdb": whole}, tmp_path / "cursor.zip")
    )
    assert (report.totals.new, report.totals.failed) == (5, 0)
    assert report.platforms == {"cursor": 5}
    again = import_files(kernel, principal, write(tmp_path / "copy", whole))
    assert again.totals.unchanged == 5
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


def test_a_question_that_is_never_closed_costs_no_more_than_its_length() -> None:
    blank, opened = "<user_query>" + " " * 50_000, "<user_query>" * 20_000
    text = f"Before. <user_query>\nHow high?\n</user_query>{blank}{opened}"
    began = time.process_time()
    parsed = parse_lines(
        {"role": "user", "message": {"content": [{"type": "text", "text": text}]}},
        {"role": "assistant", "message": {"content": "Two metres."}},
    )
    assert parsed.messages[0].text == "How high?"
    assert time.process_time() - began < 5  # hours, when the pattern can go back
