"""Uploaded documents leave in the archive and arrive whole."""

import hashlib
from pathlib import Path

from sqlalchemy import select

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import File, FileBucket, FileOriginal, FileVersion
from ingest.documents.keeping import keep_body, original_of
from ingest.own_archive.writing import ArchiveWriter
from recall.files.search import search_files
from tests.conftest import new_principal
from tests.ingest.documents.makers import pdf
from tests.ingest.exports import import_files

MANUAL = pdf(["The oven manual. Parts and labour are covered for three years from the receipt on."])


def archive(kernel: Kernel, principal: Principal, path: Path) -> Path:
    path.write_bytes(b"".join(ArchiveWriter(kernel, principal).pieces()))
    return path


def kept(kernel: Kernel, principal: Principal) -> list[tuple[str, str, int, str, object]]:
    query = (
        select(FileBucket.name, File.name, File.version, File.sha256, File.uploaded_at)
        .join(FileBucket, FileBucket.id == File.bucket_id)
        .where(File.account_id == principal.account_id)
        .order_by(FileBucket.name, File.name)
    )
    with kernel.store.read() as session:
        return [tuple(row) for row in session.execute(query)]  # type: ignore[misc]


def test_files_buckets_and_kept_versions_arrive_whole_and_once(
    kernel: Kernel, principal: Principal, settings: Settings, tmp_path: Path
) -> None:
    kernel.settings = settings.model_copy(update={"file_versions_kept": 3})
    keep_body(kernel, principal, name="Oven.pdf", body=b"an earlier manual", bucket_name="Home")
    keep_body(kernel, principal, name="Oven.pdf", body=MANUAL, bucket_name="Home")
    keep_body(kernel, principal, name="notes/tea.md", body=b"# Tea\n\nGreen.")
    kernel.settings = settings
    path = archive(kernel, principal, tmp_path / "all.zip")
    other = new_principal(kernel.store, "clara@example.org")
    report = import_files(kernel, other, path)
    assert "From the archive: 2 file buckets added." in report.warnings
    assert "From the archive: 2 files added." in report.warnings
    assert kept(kernel, other) == kept(kernel, principal)
    with kernel.store.read() as session:
        file = session.scalars(
            select(File).where(File.account_id == other.account_id, File.name == "Oven.pdf")
        ).one()
        assert original_of(session, other, file.id)[1] == MANUAL
        assert original_of(session, other, file.id, 1)[1] == b"an earlier manual"
        default = session.scalars(
            select(FileBucket.name).where(
                FileBucket.account_id == other.account_id, FileBucket.is_default
            )
        ).all()
    assert default == ["Files"]
    run_pending(kernel)
    assert search_files(kernel, other, "labour covered").passages[0].file_name == "Oven.pdf"
    again = import_files(kernel, other, path)
    assert "From the archive: 0 files added, 2 here already." in again.warnings
    assert kept(kernel, other) == kept(kernel, principal)
    assert archive_lines(archive(kernel, other, tmp_path / "b.zip")) == archive_lines(path)


def test_another_file_of_the_same_name_stays_beside_the_archives(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    keep_body(kernel, principal, name="tea.md", body=b"# Tea\n\nGreen.")
    path = archive(kernel, principal, tmp_path / "all.zip")
    other = new_principal(kernel.store, "clara@example.org")
    keep_body(kernel, other, name="tea.md", body=b"# Tea\n\nBlack.")
    for _ in range(2):
        import_files(kernel, other, path)
        assert [name for _, name, *_ in kept(kernel, other)] == ["tea (2).md", "tea.md"]


def test_a_damaged_record_is_counted_and_nothing_of_it_is_kept(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    good = hashlib.sha256(b"other bytes").hexdigest()
    lines = [
        f'{{"backread":"file","bucket":"Home","name":"a.txt","sha256":"{good}","body":"bytes"}}',
        '{"backread":"file_bucket","name":""}',
        '{"backread":"file","bucket":"Home","name":"b.txt"}',
    ]
    path = tmp_path / "files.ndjson"
    path.write_text("\n".join(lines))
    report = import_files(kernel, principal, path)
    assert "From the archive: 0 files added, 2 that could not be read." in report.warnings
    assert kept(kernel, principal) == []
    with kernel.store.read() as session:
        assert session.scalars(select(FileOriginal)).all() == []
        assert session.scalars(select(FileVersion)).all() == []


def archive_lines(path: Path) -> list[bytes]:
    import zipfile

    with zipfile.ZipFile(path) as opened:
        return opened.read("files.ndjson").split(b"\n")
