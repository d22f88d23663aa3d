"""Importing what is there already: grown, edited, shortened, older, deleted."""

import json
import shutil
from pathlib import Path

from sqlalchemy import select

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import (
    Capture,
    Conversation,
    Message,
    Passage,
    Tombstone,
)
from tests.ingest.exports import (
    as_zip,
    chatgpt,
    claude,
    claude_message,
    import_files,
    write,
)
from tests.ingest.stored import assert_sound, count_rows, stored_rows, stored_texts


def test_the_same_import_again_changes_nothing(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = as_zip({"c.json": [chatgpt("a"), claude("b")]}, tmp_path / "e.zip")
    import_files(kernel, principal, path)
    before = [stored_rows(kernel, table) for table in (Capture, Conversation, Message, Passage)]
    report = import_files(kernel, principal, path)
    assert (report.totals.unchanged, report.messages_new) == (2, 0)
    assert [stored_rows(kernel, t) for t in (Capture, Conversation, Message, Passage)] == before


def test_other_bytes_with_the_same_content_change_nothing_that_is_shown(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "a.json", [chatgpt()]))
    before = [stored_rows(kernel, table) for table in (Message, Passage)]
    again = write(tmp_path / "b.json", json.dumps([chatgpt()], indent=3).encode())
    report = import_files(kernel, principal, again)
    assert report.totals.unchanged == 1
    assert [stored_rows(kernel, table) for table in (Message, Passage)] == before
    assert count_rows(kernel, Capture) == 2


def test_a_grown_conversation_gains_its_new_messages_and_keeps_every_id(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "a.json", [chatgpt()]))
    conversations, messages = stored_rows(kernel, Conversation), stored_rows(kernel, Message)
    passages = stored_rows(kernel, Passage)
    grown = chatgpt(
        turns=("When do swifts leave?", "At the end of July.", "And return?", "In May.")
    )
    report = import_files(kernel, principal, write(tmp_path / "b.json", [grown]))
    assert (report.totals.updated, report.messages_new) == (1, 2)
    assert [row[0] for row in stored_rows(kernel, Conversation)] == [
        row[0] for row in conversations
    ]
    for before, table in ((messages, Message), (passages, Passage)):
        after = stored_rows(kernel, table)
        assert len(after) == 4
        assert all(row in after for row in before)
    assert stored_texts(kernel, principal)[2:] == ["And return?", "In May."]
    assert_sound(kernel, principal)


def test_an_edited_message_gets_its_new_words_and_only_its_passage_changes(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "a.json", [chatgpt()]))
    before = {row[3]: row[0] for row in stored_rows(kernel, Passage)}
    edited = chatgpt(turns=("When do swifts leave?", "In early August."))
    report = import_files(kernel, principal, write(tmp_path / "b.json", [edited]))
    assert (report.totals.updated, report.messages_new) == (1, 0)
    assert stored_texts(kernel, principal) == ["When do swifts leave?", "In early August."]
    after = {row[3]: row[0] for row in stored_rows(kernel, Passage)}
    assert sorted(after) == sorted(before)
    assert len(set(after.values()) & set(before.values())) == 1


def test_what_is_gone_upstream_stays_as_another_branch(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    import_files(
        kernel, principal, write(tmp_path / "a.json", [claude(turns=("a", "b", "c", "d"))])
    )
    shorter = claude(turns=("a", "b"), updated_at="2024-04-01T00:00:00Z")
    report = import_files(kernel, principal, write(tmp_path / "b.json", [shorter]))
    assert report.totals.updated == 1
    assert stored_texts(kernel, principal) == ["a", "b"]
    assert stored_texts(kernel, principal, shown_only=False) == ["a", "b", "c", "d"]
    assert count_rows(kernel, Passage) == 2
    assert_sound(kernel, principal)


def test_an_older_copy_adds_what_it_alone_has_and_overwrites_nothing(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    newer = claude(turns=("a", "b, edited"), name="New title", updated_at="2024-06-01T00:00:00Z")
    older = claude(turns=("a", "b", "only in the old copy"), name="Old title")
    import_files(kernel, principal, write(tmp_path / "n.json", [newer]))
    report = import_files(kernel, principal, write(tmp_path / "o.json", [older]))
    assert (report.totals.updated, report.messages_new) == (1, 1)
    assert stored_texts(kernel, principal) == ["a", "b, edited"]
    assert "only in the old copy" in stored_texts(kernel, principal, shown_only=False)
    with kernel.store.read() as session:
        assert session.scalars(select(Conversation.title)).one() == "New title"
    again = import_files(kernel, principal, write(tmp_path / "o2.json", [older]))
    assert again.totals.unchanged == 1
    assert_sound(kernel, principal)


def test_copies_of_one_conversation_in_one_file_become_one(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    grown = chatgpt(turns=("When do swifts leave?", "At the end of July.", "Thanks"))
    path = write(tmp_path / "c.json", [chatgpt(), grown, chatgpt()])
    report = import_files(kernel, principal, path)
    totals = report.totals
    assert (totals.found, totals.new, totals.updated, totals.unchanged) == (3, 1, 1, 1)
    assert len(stored_texts(kernel, principal)) == 3


def test_a_deleted_conversation_is_not_brought_back(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    with kernel.store.write() as session:
        session.add(
            Tombstone(account_id=principal.account_id, platform="chatgpt", external_id="conv-1")
        )
    path = write(tmp_path / "c.json", [chatgpt(), chatgpt("conv-2")])
    report = import_files(kernel, principal, path)
    assert (report.totals.new, report.totals.skipped) == (1, 1)
    assert "deleted" in report.items[0].reason
    assert import_files(kernel, stranger, path).totals.new == 2


def test_a_dry_run_tells_what_would_happen_and_stores_nothing(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "a.json", [chatgpt("a")]))
    before = [stored_rows(kernel, table) for table in (Capture, Conversation, Message, Passage)]
    path = write(tmp_path / "b.json", [chatgpt("a"), chatgpt("b"), chatgpt("a", ("x", "y", "z"))])
    report = import_files(kernel, principal, path, dry_run=True)
    assert report.is_dry_run
    assert (report.totals.unchanged, report.totals.new, report.totals.updated) == (1, 1, 1)
    assert [stored_rows(kernel, t) for t in (Capture, Conversation, Message, Passage)] == before


def test_very_long_ids_are_stored_and_stay_the_same(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    raw = claude("x" * 2000, (claude_message("m" * 2000, "human", "long ids"),))
    import_files(kernel, principal, write(tmp_path / "c.json", [raw]))
    shutil.copy(tmp_path / "c.json", tmp_path / "d.json")
    assert import_files(kernel, principal, tmp_path / "d.json").totals.unchanged == 1
    assert_sound(kernel, principal)
