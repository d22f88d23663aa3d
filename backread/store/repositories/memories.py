"""Memories and the buckets they lie in."""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_, select, update
from sqlalchemy.exc import IntegrityError

from backread.errors import NotFound
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Bucket, Memory

DEFAULT_BUCKET = "General"


@dataclass(frozen=True, slots=True)
class BucketCount:
    """A bucket and how many memories it holds."""

    bucket: Bucket
    memories: int


def buckets_of(session: ReadSession, account_id: str) -> list[BucketCount]:
    """All buckets, the default one first, then by name."""
    rows = session.execute(
        select(Bucket, func.count(Memory.id))
        .outerjoin(Memory, Memory.bucket_id == Bucket.id)
        .where(Bucket.account_id == account_id)
        .group_by(Bucket.id)
        .order_by(Bucket.is_default.desc(), func.lower(Bucket.name), Bucket.id)
    )
    return [BucketCount(bucket, count) for bucket, count in rows]


def get_bucket(session: ReadSession, account_id: str, bucket_id: int) -> Bucket:
    """Raises NotFound for an id that does not exist and for another account's alike."""
    bucket = session.get(Bucket, bucket_id)
    if bucket is None or bucket.account_id != account_id:
        raise NotFound(
            "There is no bucket with this id.", hint="list_buckets shows the buckets and their ids."
        )
    return bucket


def default_bucket(session: WriteSession, account_id: str) -> Bucket:
    """The bucket of memories that name none; made when it is first needed."""
    query = select(Bucket).where(Bucket.account_id == account_id)
    found = session.scalar(query.where(Bucket.is_default.is_(True)).order_by(Bucket.id))
    if found is not None:
        return found
    named = session.scalar(query.where(Bucket.name == DEFAULT_BUCKET))
    if named is not None:
        named.is_default = True
        return named
    bucket = Bucket(account_id=account_id, name=DEFAULT_BUCKET, is_default=True)
    try:
        with session.begin_nested():
            session.add(bucket)
            session.flush()
    except IntegrityError:  # made by another process meanwhile
        return session.scalars(query.where(Bucket.name == DEFAULT_BUCKET)).one()
    return bucket


def named_bucket(session: WriteSession, account_id: str, name: str) -> Bucket:
    """The bucket with this name; made when there is none."""
    query = select(Bucket).where(Bucket.account_id == account_id, Bucket.name == name)
    found = session.scalar(query)
    if found is not None:
        return found
    bucket = Bucket(account_id=account_id, name=name)
    try:
        with session.begin_nested():
            session.add(bucket)
            session.flush()
    except IntegrityError:  # made by another process meanwhile
        return session.scalars(query).one()
    return bucket


def find_by_hash(
    session: ReadSession, account_id: str, bucket_id: int, text_hash: str
) -> Memory | None:
    """The memory of the bucket whose folded text has this hash."""
    return session.scalar(
        select(Memory).where(
            Memory.account_id == account_id,
            Memory.bucket_id == bucket_id,
            Memory.text_hash == text_hash,
        )
    )


def of_similar_length(
    session: ReadSession, account_id: str, bucket_id: int, shortest: int, longest: int
) -> Sequence[Memory]:
    """Memories of the bucket that are not much shorter than `shortest` characters and not much
    longer than `longest`, oldest first."""
    return session.scalars(
        select(Memory)
        .where(
            Memory.account_id == account_id,
            Memory.bucket_id == bucket_id,
            func.length(Memory.text).between(shortest * 2 // 3 - 16, longest * 3 // 2 + 16),
        )
        .order_by(Memory.id)
    ).all()


def add_memory(
    session: WriteSession,
    *,
    account_id: str,
    bucket_id: int,
    text: str,
    text_hash: str,
    client_id: str | None,
) -> Memory | None:
    """Stores it; None when another process has stored the same meanwhile."""
    memory = Memory(
        account_id=account_id,
        bucket_id=bucket_id,
        text=text,
        text_hash=text_hash,
        client_id=client_id,
        # Random rather than counted: unique without a sequence, and never used twice.
        point_id=secrets.randbits(62),
    )
    try:
        with session.begin_nested():
            session.add(memory)
            session.flush()
    except IntegrityError:
        return None
    return memory


def memories_by_point(
    session: ReadSession, account_id: str, point_ids: Collection[int]
) -> dict[int, tuple[Memory, Bucket]]:
    """Memories by their id in the index. Ids that are gone or another account's are left out."""
    rows = session.execute(
        select(Memory, Bucket)
        .join(Bucket, Bucket.id == Memory.bucket_id)
        .where(Memory.account_id == account_id, Memory.point_id.in_(list(point_ids)))
    )
    return {memory.point_id: (memory, bucket) for memory, bucket in rows}


def memories_not_indexed(
    session: ReadSession,
    account_id: str,
    signature: str,
    *,
    bucket_id: int | None = None,
    limit: int = 2000,
) -> list[Memory]:
    """The newest memories that the index does not have under this signature."""
    query = (
        select(Memory)
        .where(
            Memory.account_id == account_id,
            or_(Memory.dense_with < signature, Memory.dense_with > signature),
        )
        .order_by(Memory.created_at.desc())
        .limit(limit)
    )
    if bucket_id is not None:
        query = query.where(Memory.bucket_id == bucket_id)
    return list(session.scalars(query))


def mark_memories_indexed(
    session: WriteSession, account_id: str, point_ids: Sequence[int], signature: str
) -> None:
    """Notes that the index has these memories."""
    session.execute(
        update(Memory)
        .where(Memory.account_id == account_id, Memory.point_id.in_(point_ids))
        .values(dense_with=signature)
        .execution_options(synchronize_session=False)
    )
