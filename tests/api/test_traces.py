"""Deleted for good: the words stand in no table and, with SQLite, in no file of the data folder."""

from pathlib import Path
from typing import Any

import pytest
import zstandard
from sqlalchemy import inspect, select, text

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Account, Conversation, RecordRevision, SuggestedMemory
from ingest.deleting import delete_conversation
from ingest.documents.keeping import keep_body, remove_file
from ingest.erasing import enqueue_erasing
from recall.categories import updating
from recall.categories.reading import bucket_categories
from recall.categories.updating import categorise_bucket
from recall.categories.writing import write_all
from recall.exporting import export_conversation
from recall.folders.access import owner_access
from recall.folders.catalogue import create_folder, delete_folder
from recall.folders.records import create_record, delete_record, purge_record, update_record
from recall.memories import (
    create_bucket,
    delete_bucket,
    edit_memory,
    forget_memories,
    move_memories,
    purge_now,
    store_memory,
    undo_forget,
)
from recall.notes.writing import delete_note, purge_note, write_note
from recall.overview.reading import chat_history_overview
from recall.suggestions import AcceptedSuggestion, accept_suggestions
from tests.ingest.exports import as_zip, chatgpt, import_files
from tests.recall.test_suggestions import offer

WORD = "quokka"
LEAVES = ("fern", "moss", "reed", "sedge", "clover", "nettle", "vetch", "thyme", "mint", "sage")


def tables(kernel: Kernel) -> set[str]:
    """Tables with the word in any column, packed texts unpacked."""
    found = set()
    with kernel.store.read() as session:
        for table in inspect(session.connection()).get_table_names():
            rows = session.execute(text(f'SELECT * FROM "{table}"'))
            if any(WORD in _readable(value).lower() for row in rows for value in row):
                found.add(table)
    return found


def files(kernel: Kernel) -> list[str]:
    home = kernel.settings.home
    return [
        path.name
        for path in sorted(home.rglob("*"))
        if path.is_file() and WORD.encode() in path.read_bytes().lower()
    ]


def _readable(value: Any) -> str:
    if not isinstance(value, bytes | memoryview):
        return str(value)
    raw = bytes(value)
    if raw.startswith(zstandard.FRAME_HEADER):
        raw = zstandard.ZstdDecompressor().decompress(raw, max_output_size=2**24)
    return raw.decode(errors="ignore")


def assert_nothing_is_left(kernel: Kernel) -> None:
    assert tables(kernel) == set()
    run_pending(kernel)
    assert tables(kernel) == set()
    assert files(kernel) == []


def keep_facts(kernel: Kernel, principal: Principal) -> tuple[int, list[str]]:
    """A sorted bucket whose categories are named after the word; its id, the memories' ids."""
    bucket = create_bucket(kernel, principal, "Animals").bucket_id
    ids = [
        store_memory(kernel, principal, f"A quokka eats {leaf}.", bucket_id=bucket).memory_id
        for leaf in LEAVES
    ]
    for leaf in LEAVES:
        store_memory(kernel, principal, f"{leaf.title()} grows by the pond.", bucket_id=bucket)
    categorise_bucket(kernel, principal.account_id, bucket)
    listed = bucket_categories(kernel, principal, bucket)
    assert any(WORD in each.name.lower() for each in listed.categories)
    return bucket, ids


def test_what_categories_told_of_a_memory_goes_with_it(
    kernel: Kernel, principal: Principal
) -> None:
    bucket, ids = keep_facts(kernel, principal)
    gone = forget_memories(kernel, principal, ids)
    assert tables(kernel) == {"forgotten_memories"}
    listed = bucket_categories(kernel, principal, bucket)
    assert listed.categories
    assert WORD not in listed.text.lower()
    purge_now(kernel, principal, gone.undo_id)
    assert_nothing_is_left(kernel)


def test_a_memory_that_comes_back_is_told_of_again(kernel: Kernel, principal: Principal) -> None:
    bucket, ids = keep_facts(kernel, principal)
    undo_forget(kernel, principal, forget_memories(kernel, principal, ids).undo_id)
    run_pending(kernel)
    assert WORD in bucket_categories(kernel, principal, bucket).text.lower()


def test_words_that_others_say_too_stay_in_names(kernel: Kernel, principal: Principal) -> None:
    bucket, ids = keep_facts(kernel, principal)
    forget_memories(kernel, principal, ids[:1])
    listed = bucket_categories(kernel, principal, bucket)
    assert any(WORD in each.name.lower() for each in listed.categories)


def test_nothing_is_left_of_what_was_edited_moved_or_lay_in_a_deleted_bucket(
    kernel: Kernel, principal: Principal
) -> None:
    _, ids = keep_facts(kernel, principal)
    other = create_bucket(kernel, principal, "Other animals").bucket_id
    for number, memory_id in enumerate(ids[:6]):
        edit_memory(kernel, principal, memory_id, text=f"Line {number} was written over.")
    move_memories(kernel, principal, ids[6:], bucket_id=other)
    assert tables(kernel) == {"memories"}
    gone = delete_bucket(kernel, principal, other)
    purge_now(kernel, principal, gone.undo_id)
    assert_nothing_is_left(kernel)


def test_a_sorting_that_had_read_the_memory_before_does_not_write_it_down(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket, ids = keep_facts(kernel, principal)

    def meanwhile_forgotten(*given: Any) -> None:
        write_all(*given)
        gone = forget_memories(kernel, principal, ids)
        purge_now(kernel, principal, gone.undo_id)

    with monkeypatch.context() as patch:
        patch.setattr(updating, "write_all", meanwhile_forgotten)
        assert categorise_bucket(kernel, principal.account_id, bucket, anew=True)
    assert_nothing_is_left(kernel)


def test_a_memory_that_was_suggested_is_not_suggested_again_and_leaves_no_words(
    kernel: Kernel, principal: Principal
) -> None:
    (offered,) = offer(kernel, principal, "You keep a quokka.")
    accept_suggestions(kernel, principal, [AcceptedSuggestion(offered)])
    with kernel.store.read() as session:
        (memory_id,) = session.scalars(select(SuggestedMemory.memory_id))
    gone = forget_memories(kernel, principal, [str(memory_id)])
    purge_now(kernel, principal, gone.undo_id)
    assert_nothing_is_left(kernel)
    with kernel.store.read() as session:
        (kept,) = session.scalars(select(SuggestedMemory))
        assert (kept.state, len(kept.text_hash)) == ("erased", 64)


def bring_chats(kernel: Kernel, principal: Principal, folder: Path) -> str:
    """Three chats, one of them with the word and all that is derived from it; its id."""
    said = [f"I keep a Quokka and its {leaf}. What does Quokka Mary eat?" for leaf in LEAVES]
    turns = [each for line in said for each in (line, "The quokka eats leaves.")]
    raw = [
        chatgpt("first", turns, title="The quokka"),
        chatgpt("second", ["I keep bees in Riga.", "They make honey."], title="Bees"),
        chatgpt("third", ["I sow flax in Riga.", "It flowers blue."], title="Flax"),
    ]
    import_files(kernel, principal, as_zip({"conversations.json": raw}, folder / "export.zip"))
    run_pending(kernel)
    assert WORD in chat_history_overview(kernel, principal).text.lower()
    with kernel.store.read() as session:
        query = select(Conversation.id).where(Conversation.external_id == "first")
        conversation_id = session.scalars(query).one()
    export_conversation(kernel, principal, conversation_id)
    return conversation_id


def test_nothing_is_left_of_a_deleted_conversation(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    conversation_id = bring_chats(kernel, principal, tmp_path)
    assert {"captures", "conversation_digests", "messages", "overviews"} <= tables(kernel)
    delete_conversation(kernel, principal, conversation_id)
    # SQLite's full text has marked the words as deleted; the job drops them.
    assert tables(kernel) <= {"passages_fts_data"}
    run_pending(kernel)
    assert_nothing_is_left(kernel)


def test_nothing_is_left_of_notes_folders_and_files(kernel: Kernel, principal: Principal) -> None:
    write_note(kernel, principal, "animals/quokka.md", "The quokka smiles.")
    with kernel.store.write() as session:
        folder = create_folder(session, principal, "Animals")
        access = owner_access(session, principal, folder.id)
    record = create_record(kernel, access, "quokka", "The quokka lives on Rottnest Island.")
    update_record(kernel, access, record.id, content="Nothing of it.")
    single = create_record(kernel, access, "Island", "A quokka lives there.")
    body = b"# Quokka\n\nIt hops at night."
    file = keep_body(kernel, principal, name="quokka.md", body=body)
    run_pending(kernel)
    assert {"note_passages", "record_revisions", "file_passages"} <= tables(kernel)
    delete_note(kernel, principal, "animals/quokka.md")
    purge_note(kernel, principal, "animals/quokka.md")
    delete_record(kernel, access, single.id)
    purge_record(kernel, access, single.id)
    with kernel.store.read() as session:
        left = [each.record_id for each in session.scalars(select(RecordRevision))]
    assert set(left) == {record.id}
    delete_folder(kernel, principal, folder.id, name="Animals")
    remove_file(kernel, principal, file.file_id)
    assert_nothing_is_left(kernel)


def test_nothing_is_left_of_an_erased_account(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    bring_chats(kernel, principal, tmp_path)
    keep_facts(kernel, principal)
    write_note(kernel, principal, "quokka.md", "The quokka smiles.")
    with kernel.store.write() as session:
        account = session.get_one(Account, principal.account_id)
        account.disabled_at = account.removed_at = utcnow()
        enqueue_erasing(session, principal.account_id)
    run_pending(kernel)
    assert_nothing_is_left(kernel)
