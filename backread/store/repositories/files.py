"""Uploaded documents: the files, their originals and earlier versions. Every query names the
account."""

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, and_, exists, func, select

from backread.domain import Principal
from backread.errors import NotFound
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, File, FileBucket, FileOriginal, FileVersion


def get_file(
    session: ReadSession, account_id: str, file_id: str, *, lock: bool = False
) -> File | None:
    """None when there is none, or it is another account's. `lock`: nobody else changes it until
    the transaction ends."""
    found = session.get(File, file_id, with_for_update=lock or None)
    return found if found is not None and found.account_id == account_id else None


def find_file(session: ReadSession, principal: Principal, file_id: str) -> File:
    """Raises NotFound when there is none, or it is another account's."""
    found = get_file(session, principal.account_id, file_id)
    if found is None:
        raise NotFound("There is no such file.", hint="It may have been deleted.")
    return found


def list_files(
    session: ReadSession,
    account_id: str,
    *,
    bucket_id: int | None = None,
    offset: int = 0,
    limit: int | None = 200,
) -> list[tuple[File, FileBucket]]:
    """With their buckets: the default bucket first, then by name of bucket and file."""
    query = (
        select(File, FileBucket)
        .join(FileBucket, FileBucket.id == File.bucket_id)
        .order_by(
            FileBucket.is_default.desc(),
            func.lower(FileBucket.name),
            FileBucket.id,
            func.lower(File.name),
            File.id,
        )
    )
    query = query.where(_is_in(account_id, bucket_id))
    rows = session.execute(query.offset(offset).limit(limit))
    return [(file, bucket) for file, bucket in rows]


def count_files(session: ReadSession, account_id: str, *, bucket_id: int | None = None) -> int:
    query = select(func.count(File.id)).where(_is_in(account_id, bucket_id))
    return session.scalar(query) or 0


def _is_in(account_id: str, bucket_id: int | None) -> ColumnElement[bool]:
    is_of = File.account_id == account_id
    return is_of if bucket_id is None else and_(is_of, File.bucket_id == bucket_id)


def files_in_state(session: ReadSession, account_id: str, states: Iterable[str]) -> list[File]:
    query = select(File).where(File.account_id == account_id, File.state.in_(list(states)))
    return list(session.scalars(query.order_by(File.uploaded_at, File.id)))


def outdated_files(session: ReadSession, account_id: str, reader_version: int) -> list[File]:
    """Files that an older reader has read, or failed to."""
    query = select(File).where(File.account_id == account_id, _is_outdated(reader_version))
    return list(session.scalars(query.order_by(File.id)))


def accounts_with_outdated(session: ReadSession, reader_version: int) -> list[str]:
    query = select(File.account_id).where(_is_outdated(reader_version)).distinct()
    return sorted(session.scalars(query))


def _is_outdated(reader_version: int) -> ColumnElement[bool]:
    return and_(File.reader_version < reader_version, File.state.in_(["ready", "failed"]))


def file_named(session: ReadSession, account_id: str, bucket_id: int, name: str) -> File | None:
    return session.scalar(
        select(File).where(
            File.account_id == account_id, File.bucket_id == bucket_id, File.name == name
        )
    )


def count_bytes(session: WriteSession, account_id: str) -> int:
    """Bytes of all originals. Until the transaction ends nobody else counts for this account, so
    two at a time cannot both find room for themselves."""
    session.execute(select(Account.id).where(Account.id == account_id).with_for_update())
    query = select(func.coalesce(func.sum(FileOriginal.raw_bytes), 0))
    return int(session.scalar(query.where(FileOriginal.account_id == account_id)) or 0)


def get_original(session: ReadSession, account_id: str, sha256: str) -> FileOriginal | None:
    return session.get(FileOriginal, (account_id, sha256))


def has_original(session: ReadSession, account_id: str, sha256: str) -> bool:
    query = select(FileOriginal.sha256).where(
        FileOriginal.account_id == account_id, FileOriginal.sha256 == sha256
    )
    return session.scalar(query) is not None


def add_original(
    session: WriteSession, account_id: str, sha256: str, packed: bytes, size: int
) -> None:
    """`packed` is compressed as `FileOriginal` says; `size` is that of the raw bytes."""
    original = FileOriginal(account_id=account_id, sha256=sha256, body=packed, raw_bytes=size)
    session.add(original)
    session.flush()


def drop_unused_originals(session: WriteSession, account_id: str, sha256s: Sequence[str]) -> int:
    """Deletes those of the originals that no file and no kept version has; returns how many."""
    session.flush()
    count = 0
    for sha256 in dict.fromkeys(sha256s):
        of_files = exists().where(File.account_id == account_id, File.sha256 == sha256)
        of_versions = exists().where(
            FileVersion.account_id == account_id, FileVersion.sha256 == sha256
        )
        is_used = session.scalar(select(of_files | of_versions))
        original = None if is_used else get_original(session, account_id, sha256)
        if original is not None:
            session.delete(original)
            count += 1
    session.flush()
    return count


def versions_of(session: ReadSession, account_id: str, file_id: str) -> list[FileVersion]:
    """Kept originals from before, newest first."""
    query = select(FileVersion).where(
        FileVersion.account_id == account_id, FileVersion.file_id == file_id
    )
    return list(session.scalars(query.order_by(FileVersion.version.desc())))


def files_page(session: ReadSession, account_id: str, offset: int, limit: int) -> list[File]:
    """In the order in which they were uploaded."""
    query = select(File).where(File.account_id == account_id).order_by(File.id)
    return list(session.scalars(query.offset(offset).limit(limit)))
