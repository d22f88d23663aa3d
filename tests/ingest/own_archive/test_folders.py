"""Record folders leave in the archive and arrive whole, history included."""

from pathlib import Path

from sqlalchemy import select

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Folder
from ingest.own_archive.writing import ArchiveWriter
from recall.folders.access import FolderAccess
from recall.folders.catalogue import create_folder
from recall.folders.reading import deleted_records, history, query_records
from recall.folders.records import create_record, delete_record, restore_record, update_record
from recall.folders.searching import vector_search
from tests.conftest import new_principal
from tests.ingest.exports import import_files


def filled(kernel: Kernel, principal: Principal) -> FolderAccess:
    with kernel.store.write() as session:
        folder = create_folder(session, principal, "Harbour", vector_description="Piers and boats")
        create_folder(session, principal, "Plain", generate_embeddings=False)
    access = FolderAccess(principal.account_id, folder.id, writer="Robot")
    piers = create_record(
        kernel, access, "Piers", "Oak planks.\r\n\u200b", metadata={"n": 1, "gone": None}
    )
    update_record(kernel, access, piers.id, content="And nails.", operation="append")
    gone = create_record(kernel, access, "Gone", "Old boat.")
    delete_record(kernel, access, gone.id)
    return access


def folder_of(kernel: Kernel, principal: Principal) -> FolderAccess:
    with kernel.store.read() as session:
        folder = session.scalars(
            select(Folder).where(
                Folder.account_id == principal.account_id, Folder.name == "Harbour"
            )
        ).one()
    return FolderAccess(principal.account_id, folder.id)


def test_folders_records_and_their_history_arrive_whole_and_once(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    access = filled(kernel, principal)
    path = tmp_path / "all.zip"
    path.write_bytes(b"".join(ArchiveWriter(kernel, principal).pieces()))
    other = new_principal(kernel.store, "clara@example.org")
    report = import_files(kernel, other, path)
    assert "From the archive: 2 folders added." in report.warnings
    assert "From the archive: 2 records added." in report.warnings
    arrived = folder_of(kernel, other)
    (mine,), (theirs,) = (
        query_records(kernel, each, conditions=[("n", 1)]).records for each in (access, arrived)
    )
    assert mine.id != theirs.id  # both are on this server
    assert theirs.model_dump(exclude={"id", "indexing"}) == mine.model_dump(
        exclude={"id", "indexing"}
    )
    assert history(kernel, arrived, theirs.id) == history(kernel, access, mine.id)
    run_pending(kernel)
    assert vector_search(kernel, arrived, "oak planks", similarity_threshold=0).results
    again = import_files(kernel, other, path)
    assert "From the archive: 0 records added, 2 here already." in again.warnings


def test_a_deleted_record_arrives_deleted_and_can_be_restored(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    filled(kernel, principal)
    path = tmp_path / "all.zip"
    path.write_bytes(b"".join(ArchiveWriter(kernel, principal).pieces()))
    other = new_principal(kernel.store, "clara@example.org")
    import_files(kernel, other, path)
    arrived = folder_of(kernel, other)
    (gone,) = deleted_records(kernel, arrived)
    assert restore_record(kernel, arrived, gone.id).content == "Old boat."
