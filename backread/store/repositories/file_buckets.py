"""Buckets of uploaded documents."""

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from backread.errors import NotFound
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import File, FileBucket

DEFAULT_FILE_BUCKET = "Files"


@dataclass(frozen=True, slots=True)
class FileBucketCount:
    """A bucket, and how many files and bytes it holds."""

    bucket: FileBucket
    files: int
    size_bytes: int


def file_buckets_of(session: ReadSession, account_id: str) -> list[FileBucketCount]:
    """All buckets, the default one first, then by name."""
    rows = session.execute(
        select(FileBucket, func.count(File.id), func.coalesce(func.sum(File.size_bytes), 0))
        .outerjoin(File, File.bucket_id == FileBucket.id)
        .where(FileBucket.account_id == account_id)
        .group_by(FileBucket.id)
        .order_by(FileBucket.is_default.desc(), func.lower(FileBucket.name), FileBucket.id)
    )
    return [FileBucketCount(bucket, files, int(size)) for bucket, files, size in rows]


def get_file_bucket(session: ReadSession, account_id: str, bucket_id: int) -> FileBucket:
    """Raises NotFound for an id that does not exist and for another account's alike."""
    bucket = session.get(FileBucket, bucket_id) if 0 < bucket_id < 2**63 else None
    if bucket is None or bucket.account_id != account_id:
        raise NotFound(
            "There is no file bucket with this id.",
            hint="File buckets are apart from the buckets of memories. Leave the id out to search "
            "all files, or look it up on the Files page.",
        )
    return bucket


def default_file_bucket(session: WriteSession, account_id: str) -> FileBucket:
    """The bucket of files that name none; made when it is first needed."""
    query = select(FileBucket).where(FileBucket.account_id == account_id)
    found = session.scalar(query.where(FileBucket.is_default.is_(True)).order_by(FileBucket.id))
    if found is not None:
        return found
    bucket = named_file_bucket(session, account_id, DEFAULT_FILE_BUCKET)
    bucket.is_default = True
    session.flush()
    return bucket


def bucket_by_name(session: ReadSession, account_id: str, name: str) -> FileBucket | None:
    return session.scalar(
        select(FileBucket).where(FileBucket.account_id == account_id, FileBucket.name == name)
    )


def named_file_bucket(session: WriteSession, account_id: str, name: str) -> FileBucket:
    """The bucket with this name; made when there is none."""
    found = bucket_by_name(session, account_id, name)
    if found is not None:
        return found
    bucket = FileBucket(account_id=account_id, name=name)
    try:
        with session.begin_nested():
            session.add(bucket)
            session.flush()
    except IntegrityError:  # made by another process meanwhile
        known = bucket_by_name(session, account_id, name)
        assert known is not None
        return known
    return bucket
