"""Content that databases, parsers and limits choke on is stored, or costs only itself."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Capture, Message
from ingest.accept import SourceFile, accept_files
from ingest.importers.chatgpt import CHATGPT
from ingest.report import read_report
from tests.ingest.exports import (
    as_json,
    chatgpt,
    chatgpt_message,
    claude,
    claude_message,
    import_files,
    write,
)
from tests.ingest.stored import assert_sound, count_rows, stored_texts


def _tree(nodes: dict[str, str | None], current: str, **more: Any) -> dict[str, Any]:
    """A ChatGPT conversation of the given parent links; each message says its node's id."""
    mapping = {
        node: {"id": node, "parent": parent, "message": chatgpt_message("user", f"I am {node}")}
        for node, parent in nodes.items()
    }
    return chatgpt() | {"mapping": mapping, "current_node": current} | more


def _escaped(value: Any) -> bytes:
    """JSON in ASCII, as exports have it: half a character can stand in it as an escape only."""
    return json.dumps(value).encode()


def test_nul_and_lone_surrogates_anywhere_are_taken_out_and_the_chat_is_kept(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    foul = "a\x00b\ud800c"
    message = chatgpt_message(
        "user",
        f"said {foul}",
        author={"role": "user", "name": foul},
        metadata={
            "model_slug": foul,
            "attachments": [{"id": foul, "name": foul, "mime_type": foul}],
        },
    )
    fields = ("title", "conversation_id", "default_model_slug", "gizmo_id", "memory_scope")
    theirs = claude_message(foul, "human", f"wrote {foul}", attachments=[{"file_name": foul}])
    path = write(
        tmp_path / "c.json",
        _escaped(
            [
                chatgpt("x", (message, "fine")) | dict.fromkeys(fields, foul),
                claude(foul, (theirs,), name=foul, summary=foul),
            ]
        ),
    )
    report = import_files(kernel, principal, path)
    assert (report.totals.new, report.totals.failed) == (2, 0)
    assert sorted(stored_texts(kernel, principal)) == ["fine", "said abc", "wrote abc"]
    assert_sound(kernel, principal)


def test_stray_bytes_are_quoted_in_a_report_that_can_be_stored(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    body = b"[" + as_json(chatgpt()) + b", 1\x002\x00 ]"
    report = import_files(kernel, principal, write(tmp_path / "c.json", body))
    assert (report.state, report.totals.new, report.totals.failed) == ("readable", 1, 1)
    assert "Not a conversation" in report.items[0].reason
    alone = import_files(kernel, principal, write(tmp_path / "d.json", b"[ 1\x002 ]"))
    assert alone.error is not None
    assert alone.error.code != "internal"


def test_a_file_name_that_is_no_text_is_imported(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/chats-\xff.json"))
    report = import_files(kernel, principal, write(path, [chatgpt(), 5]))
    assert (report.totals.new, report.totals.failed) == (1, 1)


def test_ids_that_differ_only_in_what_cannot_be_stored_stay_apart(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    chain = {"a": None, "a\x00": "a", "a\ud800": "a\x00"}
    path = write(tmp_path / "c.json", _escaped([_tree(chain, "a\ud800")]))
    import_files(kernel, principal, path)
    assert count_rows(kernel, Message) == 3
    assert_sound(kernel, principal)
    again = import_files(kernel, principal, path)
    assert again.totals.unchanged == 1


@pytest.mark.parametrize(
    ("links", "current"),
    [
        ({"a": "a"}, "a"),
        ({"a": "b", "b": "a"}, "b"),
        ({"a": "gone", "b": "a"}, "b"),
        ({"a": None, "b": None}, "b"),
        ({"a": None, "b": "a"}, "gone"),
        ({"": None, "b": ""}, "b"),
        ({"": None, "b": None}, ""),
        ({"x" * 5_000: None, "x" * 5_001: "x" * 5_000}, "x" * 5_001),
    ],
)
def test_trees_that_are_no_trees_are_made_sound_and_keep_every_message(
    kernel: Kernel,
    principal: Principal,
    tmp_path: Path,
    links: dict[str, str | None],
    current: str,
) -> None:
    path = write(tmp_path / "c.json", [_tree(links, current, conversation_id="i" * 5_000)])
    report = import_files(kernel, principal, path)
    assert report.totals.new == 1
    assert count_rows(kernel, Message) == len(links)
    assert_sound(kernel, principal)


def test_times_and_numbers_beyond_every_clock_count_as_unknown(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    odd = [
        *("-1", "1e308", "-1e18", "NaN", "-Infinity", "true", "[]", "1" + "0" * 400),
        *("1" + "0" * 5_000, '"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59-14:00"'),
        *('"99999-01-01"', '"2024-02-30"', '"1e400"', '"now"', '"2024-03-01T00:00:00+99:00"'),
    ]
    chats = [
        as_json(chatgpt(f"c{place}", create_time="@")).replace(b'"@"', value.encode())
        for place, value in enumerate(odd)
    ]
    path = write(tmp_path / "c.json", b"[" + b",".join(chats) + b"]")
    report = import_files(kernel, principal, path)
    assert (report.totals.new, report.totals.failed) == (len(odd), 0)
    assert_sound(kernel, principal)


def test_a_conversation_that_the_database_refuses_costs_only_itself(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    with kernel.store.engine.begin() as connection:
        connection.exec_driver_sql("CREATE UNIQUE INDEX only_once ON conversations (title)")
    titles = ("one", "two", "two", "three")
    path = write(
        tmp_path / "c.json", [chatgpt(f"c{n}", title=title) for n, title in enumerate(titles)]
    )
    report = import_files(kernel, principal, path)
    assert (report.state, report.totals.new, report.totals.failed) == ("readable", 3, 1)
    (failed,) = (item for item in report.items if item.outcome == "failed")
    assert "cannot be stored" in failed.reason
    assert_sound(kernel, principal)


def test_a_title_of_a_megabyte_is_cut_for_lists_and_stays_whole_in_the_capture(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = write(tmp_path / "c.json", [chatgpt(title="T" * 1_000_000)])
    report = import_files(kernel, principal, path)
    assert len(report.items[0].title) == 1_000
    assert import_files(kernel, principal, path).totals.unchanged == 1
    with kernel.store.read() as session:
        assert session.scalars(select(Capture.raw_bytes)).one() > 1_000_000


def test_a_pipe_is_refused_and_not_waited_for(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with kernel.store.write() as session:
        file = SourceFile("pipe.json", tmp_path / "pipe.json")
        import_id = accept_files(session, principal, [file], route="cli")
    run_pending(kernel)
    with kernel.store.read() as session:
        report = read_report(session, principal, import_id)
    assert report.error is not None
    assert "a device or a pipe" in report.error.message


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_importer_that_meets_something_unforeseen_costs_one_conversation(
    kernel: Kernel, principal: Principal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identify = type(CHATGPT).identify

    def broken(importer: Any, raw: Any) -> str:
        if raw["conversation_id"] == "bad":
            raise IndexError
        return identify(importer, raw)

    monkeypatch.setattr(type(CHATGPT), "identify", broken)
    chats = [chatgpt("good"), chatgpt("bad"), chatgpt("last")]
    report = import_files(kernel, principal, write(tmp_path / "c.json", chats))
    assert (report.state, report.totals.new, report.totals.failed) == ("readable", 2, 1)
    assert "no. 2" in report.items[0].source
