"""Every kind of wrong file says what it is, and bad conversations cost only themselves."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import (
    Capture,
    Conversation,
    Message,
    Passage,
)
from ingest.accept import RUN_JOB, accept_files
from ingest.report import read_report
from tests.ingest.exports import (
    as_json,
    chatgpt,
    import_files,
    queue_import,
    write,
)
from tests.ingest.stored import assert_sound, count_rows, stored_texts

_WRONG: list[tuple[str, Any, tuple[str, ...]]] = [
    ("photo.zip", b"\xff\xd8\xff\xe0" + b"\x00" * 50, ("JPEG photo", "data export")),
    ("empty.json", b"", ("empty (0 bytes)",)),
    ("notes.txt", b"Dear diary", ("plain text",)),
    ("page.html", b"<!DOCTYPE html><html>", ("web page",)),
    ("paper.pdf", b"%PDF-1.7", ("PDF",)),
    ("other.gz", b"\x1f\x8b\x08", ("incomplete", "Download")),
    ("utf16.json", "[{}]".encode("utf-16"), ("UTF-16",)),
    ("cut.json", as_json([chatgpt()])[:200], ("ends in the middle",)),
    ("broken.json", b'[{"a": nonsense}]', ("not valid JSON",)),
    ("emptylist.json", b"[]", ("no conversations",)),
    ("numbers.json", b"[1, 2, 3]", ("Not a conversation",)),
    ("else.json", b'{"name": "left-pad", "version": "1.3.0"}', ("no conversations",)),
    ("settings.json", b"{}", ("no conversations",)),
    (
        "manifest.json",
        {"data_files": [{"name": "conversations-000.zip", "export_url": "https://x.example"}]},
        ("list of download links", "download every conversations-….zip"),
    ),
    (
        "export_manifest.json",
        {"version": 1, "export_files": [], "logical_files": {}},
        ("list of the files in its export", "Choose the whole zip"),
    ),
    ("names.json", {"file-a.dat": "a.png"}, ("attachment names",)),
    ("index.jsonl", b'{"id": "s", "thread_name": "x"}\n', ("Codex's list",)),
    ("takeout.json", [{"header": "Search", "title": "x", "time": "t"}], ("other activity",)),
    ("users.json", [{"uuid": "u", "full_name": "Ada"}], ("Claude's account data",)),
]


@pytest.mark.parametrize(("name", "content", "expected"), _WRONG, ids=[w[0] for w in _WRONG])
def test_a_wrong_file_says_what_it_is_and_what_to_choose_and_stores_nothing(
    kernel: Kernel,
    principal: Principal,
    tmp_path: Path,
    name: str,
    content: Any,
    expected: tuple[str, ...],
) -> None:
    report = import_files(kernel, principal, write(tmp_path / name, content))
    assert report.state == "failed"
    assert report.totals.found == 0
    assert report.error is not None
    for words in (name, *expected):
        assert words in report.error.message
    for table in (Capture, Conversation, Message, Passage):
        assert count_rows(kernel, table) == 0


def test_an_empty_folder_and_a_vanished_file_are_told(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = tmp_path / "holiday"
    folder.mkdir()
    report = import_files(kernel, principal, folder)
    assert report.error is not None
    assert "holds no JSON and no archive" in report.error.message
    import_id = queue_import(kernel, principal, write(tmp_path / "gone.json", [chatgpt()]))
    (tmp_path / "gone.json").unlink()
    run_pending(kernel, names=[RUN_JOB])
    with kernel.store.read() as session:
        gone = read_report(session, principal, import_id)
    assert gone.error is not None
    assert "no longer there" in gone.error.message


def test_one_wrong_file_among_good_ones_is_a_warning(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    good = write(tmp_path / "good.json", [chatgpt()])
    photo = write(tmp_path / "photo.jpg", b"\xff\xd8\xff")
    report = import_files(kernel, principal, good, photo)
    assert report.state == "readable"
    assert any("photo.jpg" in warning for warning in report.warnings)


def test_one_bad_conversation_is_counted_and_the_rest_goes_on(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    parts = [
        as_json(chatgpt("good")),
        b'{"mapping": {}, "title": nonsense}',
        b'{"something": "else"}',
        as_json(chatgpt("deep") | {"x": json.loads("[" * 300 + "]" * 300)}),
        as_json({"mapping": {}, "current_node": None}),
        as_json(chatgpt("lone \ud83d surrogate", ("NUL \x00 and BOM \ufeff", "fine"))),
        as_json(chatgpt("last")),
    ]
    report = import_files(
        kernel, principal, write(tmp_path / "c.json", b"[" + b",".join(parts) + b"]")
    )
    assert (report.totals.new, report.totals.failed) == (3, 4)
    reasons = [item.reason for item in report.items if item.outcome == "failed"]
    assert all(reasons)
    assert any("no. 2" in item.source for item in report.items)
    assert "NUL  and BOM " in stored_texts(kernel, principal)
    assert_sound(kernel, principal)


def test_a_file_that_ends_too_early_keeps_what_came_before(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    whole = as_json([chatgpt("a"), chatgpt("b")])
    report = import_files(kernel, principal, write(tmp_path / "c.json", whole[:-100]))
    assert (report.state, report.totals.new, report.totals.failed) == ("readable", 1, 1)
    assert "ends in the middle" in report.items[0].reason


def test_no_files_are_no_import(kernel: Kernel, principal: Principal) -> None:
    with kernel.store.write() as session, pytest.raises(InvalidInput):
        accept_files(session, principal, [], route="cli")


def test_a_blank_file_is_refused_in_a_time_that_goes_with_its_length(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    began = time.process_time()
    report = import_files(kernel, principal, write(tmp_path / "blank.html", b" " * 250_000))
    assert report.state == "failed"
    assert time.process_time() - began < 10  # minutes, when the pattern can go back
