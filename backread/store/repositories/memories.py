"""Memories and the buckets they lie in."""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, or_, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from backread.errors import NotFound
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, Bucket, Memory, OAuthClient
from backread.store.repositories.chunks import chunks
from backread.store.repositories.indexed import MEMORIES

DEFAULT_BUCKET = "General"


@dataclass(frozen=True, slots=True)
class BucketCount:
    """A bucket and how many memories it holds, former versions not counted."""

    bucket: Bucket
    memories: int


def buckets_of(session: ReadSession, account_id: str) -> list[BucketCount]:
    """All buckets, the default one first, then by name."""
    # Counted one by one, so that an index answers alone and no memory is read.
    count = (
        select(func.count())
        .select_from(Memory)
        .where(
            Memory.account_id == account_id,
            Memory.bucket_id == Bucket.id,
            Memory.superseded_by.is_(None),
        )
        .scalar_subquery()
    )
    rows = session.execute(
        select(Bucket, count)
        .where(Bucket.account_id == account_id)
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


def hold_bucket(
    session: WriteSession, account_id: str, bucket_id: int, *, alone: bool = False
) -> Bucket:
    """As `get_bucket`. Until the transaction ends nobody else deletes the bucket; with `alone`
    nobody puts anything into it either."""
    locking = {"read": not alone, "key_share": not alone}
    session.get(Bucket, bucket_id, with_for_update=locking)
    return get_bucket(session, account_id, bucket_id)


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


def bucket_called(session: ReadSession, account_id: str, name: str) -> Bucket | None:
    """The bucket with this name in any case of letters; of several the one spelt just so, else
    the oldest."""
    query = select(Bucket).where(Bucket.account_id == account_id).order_by(Bucket.id)
    alike = [each for each in session.scalars(query) if each.name.casefold() == name.casefold()]
    return next((each for each in alike if each.name == name), alike[0] if alike else None)


def bucket_names(session: ReadSession, account_id: str) -> dict[int, str]:
    rows = session.execute(select(Bucket.id, Bucket.name).where(Bucket.account_id == account_id))
    return {row.id: row.name for row in rows}


def client_names(session: ReadSession, client_ids: Collection[str | None]) -> dict[str, str]:
    """What registered clients call themselves. Scripts and forgotten clients are left out."""
    ids = sorted({each for each in client_ids if each})
    rows = session.execute(select(OAuthClient.id, OAuthClient.name).where(OAuthClient.id.in_(ids)))
    return {row.id: row.name for row in rows}


def lock_lines(session: WriteSession, account_id: str) -> None:
    """Whoever replaces memories of the account next waits for this transaction. To be taken before
    a row of them is changed, so that no two wait for each other."""
    session.execute(
        select(Account.id).where(Account.id == account_id).with_for_update(key_share=True)
    )


def memories_by_id(
    session: ReadSession, account_id: str, ids: Collection[str]
) -> dict[str, Memory]:
    """Those of the ids that exist and are the account's."""
    found: dict[str, Memory] = {}
    for some in chunks(sorted(set(ids))):
        query = select(Memory).where(_is_of(account_id), Memory.id.in_(some))
        found.update((memory.id, memory) for memory in session.scalars(query))
    return found


def _is_of(account_id: str) -> ColumnElement[bool]:
    """Condition: the memory is the account's, for queries that name the memories they want. Not a
    plain comparison, because SQLite would go by the account and read all its memories instead."""
    return Memory.account_id.concat("") == account_id


def get_memory(session: ReadSession, account_id: str, memory_id: str) -> Memory:
    """Raises NotFound for an id that does not exist and for another account's alike."""
    memory = session.get(Memory, memory_id)
    if memory is None or memory.account_id != account_id:
        raise NotFound(
            f"There is no memory with the id {memory_id[:40]}.",
            hint="search_memories and get_memories_and_buckets show the ids.",
        )
    return memory


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories a list holds. `older_than` is the last one seen: its time and id."""

    bucket_id: int | None = None
    only_current: bool = False
    older_than: tuple[datetime, str] | None = None


def list_memories(
    session: ReadSession, account_id: str, wanted: MemoryFilter, *, limit: int
) -> list[Memory]:
    """Newest first."""
    query = select(Memory).where(Memory.account_id == account_id)
    if wanted.bucket_id is not None:
        query = query.where(Memory.bucket_id == wanted.bucket_id)
    if wanted.only_current:
        query = query.where(Memory.superseded_by.is_(None))
    if wanted.older_than is not None:
        query = query.where(tuple_(Memory.created_at, Memory.id) < wanted.older_than)
    query = query.order_by(Memory.created_at.desc(), Memory.id.desc()).limit(limit)
    return list(session.scalars(query))


def count_memories(session: ReadSession, account_id: str, wanted: MemoryFilter) -> int:
    """How many the filter leaves, wherever the list has got to."""
    query = select(func.count()).select_from(Memory).where(Memory.account_id == account_id)
    if wanted.bucket_id is not None:
        query = query.where(Memory.bucket_id == wanted.bucket_id)
    if wanted.only_current:
        query = query.where(Memory.superseded_by.is_(None))
    return session.scalars(query).one()


def superseded_by_any(
    session: ReadSession, account_id: str, ids: Collection[str]
) -> dict[str, list[str]]:
    """By id of the memory that holds now: those that it took the place of, oldest first."""
    found: dict[str, list[str]] = {}
    for some in chunks(sorted(set(ids))):
        rows = session.execute(
            select(Memory.id, Memory.superseded_by)
            .where(Memory.account_id == account_id, Memory.superseded_by.in_(some))
            .order_by(Memory.superseded_at, Memory.id)
        )
        for row in rows:
            found.setdefault(str(row.superseded_by), []).append(row.id)
    return found


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


class Said(NamedTuple):
    """A statement that a bucket holds."""

    id: str
    text: str


def of_similar_length(
    session: ReadSession, account_id: str, bucket_id: int, shortest: int, longest: int
) -> list[Said]:
    """What the bucket holds that is not much shorter than `shortest` characters and not much
    longer than `longest`, oldest first."""
    rows = session.execute(
        select(Memory.id, Memory.text)
        .where(
            Memory.account_id == account_id,
            Memory.bucket_id == bucket_id,
            Memory.superseded_by.is_(None),
            func.length(Memory.text).between(shortest * 2 // 3 - 16, longest * 3 // 2 + 16),
        )
        .order_by(Memory.id)
    )
    return [Said(*row) for row in rows]


def with_hashes(
    session: ReadSession, account_id: str, bucket_id: int, hashes: Collection[str]
) -> dict[str, Said]:
    """What the bucket holds under these hashes of folded texts."""
    found: dict[str, Said] = {}
    for some in chunks(sorted(set(hashes))):
        rows = session.execute(
            select(Memory.text_hash, Memory.id, Memory.text).where(
                Memory.account_id == account_id,
                Memory.bucket_id == bucket_id,
                Memory.text_hash.in_(some),
            )
        )
        found.update((text_hash, Said(memory_id, text)) for text_hash, memory_id, text in rows)
    return found


def add_memory(
    session: WriteSession,
    *,
    account_id: str,
    bucket_id: int,
    text: str,
    text_hash: str,
    client_id: str | None,
    conversation_id: str | None = None,
    message_id: str | None = None,
) -> Memory | None:
    """Stores it; None when another process has stored the same meanwhile."""
    memory = Memory(
        account_id=account_id,
        bucket_id=bucket_id,
        text=text,
        text_hash=text_hash,
        client_id=client_id,
        conversation_id=conversation_id,
        message_id=message_id,
        point_id=fresh_point_id(),
    )
    try:
        with session.begin_nested():
            session.add(memory)
            session.flush()
    except IntegrityError:
        return None
    return memory


def fresh_point_id() -> int:
    """Random rather than counted: unique without a sequence, and never used twice."""
    return secrets.randbits(62)


def memories_by_point(
    session: ReadSession, account_id: str, point_ids: Collection[int]
) -> dict[int, tuple[Memory, Bucket]]:
    """Memories by their id in the index. Ids that are gone or another account's are left out."""
    rows = session.execute(
        select(Memory, Bucket)
        .join(Bucket, Bucket.id == Memory.bucket_id)
        .where(_is_of(account_id), Memory.point_id.in_(list(point_ids)))
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
    if _has_all(session, account_id, signature):
        return []
    query = (
        select(Memory)
        .where(
            Memory.account_id == account_id,
            MEMORIES.lacks_vector(signature),
        )
        .order_by(Memory.created_at.desc())
        .limit(limit)
    )
    if bucket_id is not None:
        query = query.where(Memory.bucket_id == bucket_id)
    return list(session.scalars(query))


def _has_all(session: ReadSession, account_id: str, signature: str) -> bool:
    """Whether the first and the last signature are this one: a look at both ends of an index."""
    mine = Memory.account_id == account_id
    first = select(func.min(Memory.dense_with)).where(mine).scalar_subquery()
    last = select(func.max(Memory.dense_with)).where(mine).scalar_subquery()
    return set(session.execute(select(first, last)).one()) <= {signature, None}


def mark_memories_indexed(
    session: WriteSession, account_id: str, point_ids: Sequence[int], signature: str
) -> None:
    """Notes that the index has these memories."""
    session.execute(
        update(Memory)
        .where(_is_of(account_id), Memory.point_id.in_(point_ids))
        .values(dense_with=signature, beside_with="")
        .execution_options(synchronize_session=False)
    )


def memories_to_note(
    session: ReadSession, account_id: str, memory_ids: Sequence[str], *, before: datetime
) -> list[str]:
    """Those of the memories that were not used since `before`."""
    return list(
        session.scalars(
            select(Memory.id).where(
                _is_of(account_id),
                Memory.id.in_(memory_ids),
                or_(Memory.used_at.is_(None), Memory.used_at < before),
            )
        )
    )


def note_use(
    session: WriteSession, account_id: str, memory_ids: Sequence[str], *, now: datetime
) -> None:
    """Counts one more use of each; see `recall.memories.strength`."""
    session.execute(
        update(Memory)
        .where(_is_of(account_id), Memory.id.in_(memory_ids))
        .values(use_count=Memory.use_count + 1, used_at=now)
        .execution_options(synchronize_session=False)
    )
