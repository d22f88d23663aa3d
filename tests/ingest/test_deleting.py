"""Deleting one conversation: gone from every store, with one receipt, and not coming back."""

from pathlib import Path

import pytest
from sqlalchemy import inspect, select, text

from backread.domain import Principal
from backread.errors import NotFound, Unavailable
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Conversation, ImportItem
from backread.vectors.index import Collection
from ingest.deleting import INDEX, delete_conversation
from ingest.verify import verify_account
from recall.exporting import export_conversation
from recall.memories import Source, search_memories, store_memory
from recall.search import SearchQuery, search
from tests.ingest.exports import as_zip, chatgpt, import_files


def bring(kernel: Kernel, principal: Principal, folder: Path) -> tuple[Path, str, str]:
    """Imports two chats; returns the file and their ids."""
    raw = [chatgpt("zebra", title="About zebras"), chatgpt("heron", title="About herons")]
    file = as_zip({"conversations.json": raw}, folder / "export.zip")
    import_files(kernel, principal, file)
    run_pending(kernel)
    with kernel.store.read() as session:
        ids = {each.external_id: each.id for each in session.scalars(select(Conversation))}
    return file, ids["zebra"], ids["heron"]


def mentions(kernel: Kernel, word: str) -> list[str]:
    """Tables that hold the word in any of their columns."""
    found = []
    with kernel.store.read() as session:
        tables = inspect(session.connection()).get_table_names()
        for table in tables:
            if table.startswith("passages_fts"):
                continue
            for row in session.execute(text(f'SELECT * FROM "{table}"')):
                if any(word in str(value) for value in row):
                    found.append(table)
                    break
    return found


def test_a_deleted_conversation_is_gone_from_every_store_and_the_receipt_names_them(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    _, zebra, heron = bring(kernel, principal, tmp_path)
    memory = store_memory(kernel, principal, "Ada likes stripes.", source=Source(zebra))
    export_conversation(kernel, principal, zebra)
    passages = kernel.index.count(Collection.PASSAGES, principal.account_id)
    receipt = delete_conversation(kernel, principal, zebra)
    removed = {store.name: store.removed for store in receipt.stores}
    assert removed["raw captures"] == 1
    assert removed["messages"] > 0
    assert removed["export links"] == 1
    assert removed["titles in import reports"] <= 1
    assert removed[INDEX] == removed["passages and their full text"] > 0
    assert not any(store.pending for store in receipt.stores)
    assert (receipt.tombstones, receipt.memories_kept) == (1, 1)
    left = kernel.index.count(Collection.PASSAGES, principal.account_id)
    assert left == passages - removed[INDEX]
    # The tombstone, and the import's own file name, are all that is left of it.
    assert set(mentions(kernel, "zebra")) <= {"tombstones", "import_items"}
    assert mentions(kernel, zebra) == []
    with kernel.store.read() as session:
        assert not any("zebra" in each.title for each in session.scalars(select(ImportItem)))
    (found,) = search_memories(kernel, principal, "stripes").memories
    assert (found.memory_id, found.source_url) == (memory.memory_id, "")
    hits = search(kernel, principal, SearchQuery(text="herons zebras")).hits
    assert {hit.conversation_id for hit in hits} <= {heron}
    assert not verify_account(kernel, principal.account_id).problems


def test_a_later_import_does_not_bring_it_back(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    file, zebra, _ = bring(kernel, principal, tmp_path)
    delete_conversation(kernel, principal, zebra)
    report = import_files(kernel, principal, file)
    assert (report.totals.new, report.totals.skipped) == (0, 1)
    with pytest.raises(NotFound):
        delete_conversation(kernel, principal, zebra)


def test_another_accounts_conversation_stays(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    _, zebra, _ = bring(kernel, principal, tmp_path)
    with pytest.raises(NotFound):
        delete_conversation(kernel, stranger, zebra)
    assert mentions(kernel, zebra)


def test_the_index_follows_when_it_is_away(
    kernel: Kernel, principal: Principal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, zebra, _ = bring(kernel, principal, tmp_path)
    before = kernel.index.count(Collection.PASSAGES, principal.account_id)

    def away(*_: object) -> None:
        raise Unavailable("The index is away.")

    with monkeypatch.context() as patch:
        patch.setattr(kernel.index, "delete", away)
        receipt = delete_conversation(kernel, principal, zebra)
    (index,) = [store for store in receipt.stores if store.name == INDEX]
    assert index.pending
    run_pending(kernel)
    left = kernel.index.count(Collection.PASSAGES, principal.account_id)
    assert left == before - index.removed
