from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import inspect, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from backread.domain import Principal
from backread.errors import BackreadError
from backread.jobs import UPKEEP, run_pending
from backread.kernel import Kernel
from backread.store.base import Base, utcnow
from backread.store.models import Account, Conversation, Import
from backread.vectors.index import Collection, VectorIndex
from ingest.documents.keeping import keep_body
from ingest.erasing import ERASE_ACCOUNT, enqueue_erasing
from ingest.uploads import begin_upload
from ingest.verify import verify_account
from recall.folders.access import FolderAccess
from recall.folders.catalogue import create_folder
from recall.folders.records import create_record, update_record
from recall.memories import create_bucket, store_memory
from recall.notes.writing import write_note
from recall.search import SearchQuery, search
from tests.ingest.exports import as_zip, chatgpt, import_files, queue_import

_CHATS = 120
_WRITES = 25  # that had begun when the account was removed
# Not any one account's, or cleared by name, as the full text is.
SHARED = {
    "alembic_version",
    "jobs",
    "job_turns",
    "oauth_clients",
    "embedding_models",
    "similarity_calibrations",
}
SOMETIMES_NOBODYS = {"invites", "sign_in_challenges"}


def archive(folder: Path, word: str, count: int = _CHATS) -> Path:
    raw = [chatgpt(f"{word}{number}", title=f"About {word} {number}") for number in range(count)]
    return as_zip({"conversations.json": raw}, folder / f"{word}.zip")


def remove(kernel: Kernel, principal: Principal) -> None:
    with kernel.store.write() as session:
        account = session.get_one(Account, principal.account_id)
        account.disabled_at = account.removed_at = utcnow()
        enqueue_erasing(session, principal.account_id)


def mentions(kernel: Kernel, account_id: str) -> list[str]:
    """Tables that still hold the account's id anywhere."""
    found = []
    with kernel.store.read() as session:
        for table in Base.metadata.sorted_tables:
            for row in session.execute(select(table)):
                if table.name != "jobs" and any(account_id in str(value) for value in row):
                    found.append(table.name)
                    break
    return found


def test_an_account_is_erased_from_every_place_and_no_other_loses_anything(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, archive(tmp_path, "walrus"))
    import_files(kernel, stranger, archive(tmp_path, "heron", 5))
    run_pending(kernel)
    store_memory(kernel, principal, text="Likes walruses.")
    keep_body(kernel, principal, name="walrus.md", body=b"# Walrus\n\nIt has tusks.")
    run_pending(kernel)
    upload = begin_upload(kernel, principal, name="half.zip", size=1000)
    waiting = kernel.settings.uploads_dir / "copy.zip"
    waiting.write_bytes(b"PK")
    with kernel.store.write() as session:
        session.add(
            Import(
                account_id=principal.account_id,
                route="web",
                state="paused",
                owns_files=True,
                files=[{"name": "copy.zip", "path": str(waiting), "size": 2}],
            )
        )
    outside = tmp_path / "walrus.zip"
    remove(kernel, principal)
    run_pending(kernel)

    assert mentions(kernel, principal.account_id) == []
    assert kernel.index.count(Collection.PASSAGES, principal.account_id) == 0
    assert kernel.index.count(Collection.MEMORIES, principal.account_id) == 0
    assert kernel.index.count(Collection.FILES, principal.account_id) == 0
    assert not list(kernel.settings.uploads_dir.glob(f"{upload.id}*"))
    assert not waiting.exists()
    assert outside.exists()  # it was never ours
    with kernel.store.read() as session:
        words = session.execute(text("SELECT count(*) FROM passages_fts")).scalar_one()
        kept = session.execute(text("SELECT count(*) FROM passages")).scalar_one()
    if kernel.store.is_sqlite:
        assert fulltext_finds(kernel, "walrus") == 0
    else:
        assert words == kept
    assert verify_account(kernel, stranger.account_id).problems == []
    assert search(kernel, stranger, SearchQuery(text="heron")).hits


def fulltext_finds(kernel: Kernel, word: str) -> int:
    with kernel.store.read() as session:
        statement = text("SELECT count(*) FROM passages_fts WHERE passages_fts MATCH :word")
        return int(session.execute(statement, {"word": word}).scalar_one())


def test_erasing_goes_on_after_it_was_cut_off(
    kernel: Kernel, principal: Principal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_files(kernel, principal, archive(tmp_path, "walrus"))
    remove(kernel, principal)
    with monkeypatch.context() as broken:
        broken.setattr(type(kernel.index), "delete_account", _cut_off)
        run_pending(kernel)
    with kernel.store.read() as session:
        assert session.scalars(select(Conversation)).all() == []
        assert session.get(Account, principal.account_id) is not None
    for upkeep in UPKEEP:
        upkeep(kernel)
    run_pending(kernel)
    with kernel.store.read() as session:
        assert session.get(Account, principal.account_id) is None


def test_what_a_request_brings_while_the_account_is_erased_goes_too(
    kernel: Kernel, principal: Principal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_files(kernel, principal, archive(tmp_path, "walrus", 3))
    remove(kernel, principal)
    empty_index = type(kernel.index).delete_account
    late: list[Path] = []

    def with_late_request(self: VectorIndex, account_id: str) -> None:
        empty_index(self, account_id)
        if late:
            return
        upload = begin_upload(kernel, principal, name="half.zip", size=1000)
        late.extend(kernel.settings.uploads_dir.glob(f"{upload.id}*"))
        import_files(kernel, principal, archive(tmp_path, "heron", 3))

    monkeypatch.setattr(type(kernel.index), "delete_account", with_late_request)
    run_pending(kernel)
    assert late
    assert not late[0].exists()
    assert mentions(kernel, principal.account_id) == []
    assert kernel.index.count(Collection.PASSAGES, principal.account_id) == 0
    if kernel.store.is_sqlite:
        assert fulltext_finds(kernel, "heron") == 0


def test_no_table_can_keep_what_belongs_to_an_erased_account(kernel: Kernel) -> None:
    schema = inspect(kernel.store.engine)
    names = {name for name in schema.get_table_names() if not name.startswith("passages_fts")}
    must = {
        table: {column["name"] for column in schema.get_columns(table) if not column["nullable"]}
        for table in names - SHARED
    }
    erased = {"accounts"}
    while found := {
        table
        for table in must.keys() - erased
        for key in schema.get_foreign_keys(table)
        if key["referred_table"] in erased
        and key["options"].get("ondelete") == "CASCADE"
        and (set(key["constrained_columns"]) <= must[table] or table in SOMETIMES_NOBODYS)
    }:
        erased |= found
    assert erased == must.keys()


def _cut_off(self: object, account_id: str) -> None:
    raise ConnectionError("the index went away")


def test_an_import_that_waits_is_called_off_with_the_account(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    queue_import(kernel, principal, archive(tmp_path, "walrus", 3))
    remove(kernel, principal)
    run_pending(kernel)
    assert mentions(kernel, principal.account_id) == []


def test_nothing_is_erased_that_nobody_asked_to_remove(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, archive(tmp_path, "walrus", 3))
    with kernel.store.write() as session:
        enqueue_erasing(session, principal.account_id)
    run_pending(kernel)
    with kernel.store.read() as session:
        assert len(session.scalars(select(Conversation)).all()) == 3


def test_an_account_is_erased_beside_those_who_still_write_for_it(
    kernel: Kernel, principal: Principal
) -> None:
    with kernel.store.write() as session:
        folder = create_folder(session, principal, "Animals")
    access = FolderAccess(principal.account_id, folder.id)
    record = create_record(kernel, access, "Walrus", "It has tusks.").id
    bucket = create_bucket(kernel, principal, "Sea").bucket_id
    writes: list[Callable[[int], object]] = [
        lambda n: create_record(kernel, access, f"Seal {n}", "It barks."),
        lambda n: update_record(kernel, access, record, content=f"{n} tusks."),
        lambda n: write_note(kernel, principal, f"sea/{n % 3}.md", f"Note {n}."),
        lambda n: store_memory(kernel, principal, f"Fact {n}.", bucket_id=bucket),
        lambda n: keep_body(kernel, principal, name=f"{n % 3}.md", body=f"# {n}".encode()),
    ]
    began = Barrier(len(writes) + 1)
    odd: list[str] = []

    def write_on(write: Callable[[int], object]) -> None:
        write(0)
        began.wait(30)
        for number in range(1, _WRITES):
            try:
                write(number)
            except (BackreadError, IntegrityError):
                pass  # what it belongs to is gone
            except OperationalError as error:
                odd.append(str(error))

    with ThreadPoolExecutor(len(writes)) as pool:
        running = [pool.submit(write_on, write) for write in writes]
        began.wait(30)
        remove(kernel, principal)
        run_pending(kernel, names=[ERASE_ACCOUNT])
        for each in running:
            each.result(30)
    assert odd == []
    with kernel.store.read() as reading:
        assert reading.get(Account, principal.account_id) is None
    assert mentions(kernel, principal.account_id) == []
