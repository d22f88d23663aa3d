"""Smart Memory: categories of a bucket and which memories are in them.

A membership counts only while its memory lies in the same bucket with the same text; what is
left over from before is not read.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, func, select

from backread.errors import NotFound
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Bucket, BucketCategorisation, Category, CategoryMembership, Memory
from backread.store.repositories.chunks import chunks


@dataclass(frozen=True, slots=True)
class SortedMemory:
    """A memory that holds now, and what is known of its place. `vector` and `category_id` are
    None unless they are of its present text."""

    id: str
    text: str
    text_hash: str
    created_at: datetime
    category_id: str | None
    vector: bytes | None
    vector_with: str


@dataclass(frozen=True, slots=True)
class Membership:
    """Where a memory is to be noted as sorted to."""

    memory_id: str
    category_id: str
    text_hash: str
    vector: bytes
    vector_with: str


def _current(bucket_id: int) -> ColumnElement[bool]:
    """Memories of the bucket that no later one has taken the place of."""
    return and_(Memory.bucket_id == bucket_id, Memory.superseded_by.is_(None))


def _placed() -> ColumnElement[bool]:
    """The membership that is of the memory as it is now."""
    return and_(
        CategoryMembership.memory_id == Memory.id,
        CategoryMembership.bucket_id == Memory.bucket_id,
        CategoryMembership.text_hash == Memory.text_hash,
    )


def memories_to_sort(session: ReadSession, account_id: str, bucket_id: int) -> list[SortedMemory]:
    """All memories of the bucket that hold now, oldest first."""
    rows = session.execute(
        select(
            Memory.id,
            Memory.text,
            Memory.text_hash,
            Memory.created_at,
            CategoryMembership.category_id,
            CategoryMembership.vector,
            CategoryMembership.vector_with,
        )
        .outerjoin(CategoryMembership, _placed())
        .where(Memory.account_id == account_id, _current(bucket_id))
        .order_by(Memory.created_at, Memory.id)
    )
    return [SortedMemory(*row[:6], row[6] or "") for row in rows]


def categorisation(
    session: ReadSession, account_id: str, bucket_id: int
) -> BucketCategorisation | None:
    """How far the sorting of the bucket is; None when it never was sorted."""
    return session.scalar(
        select(BucketCategorisation).where(
            BucketCategorisation.account_id == account_id,
            BucketCategorisation.bucket_id == bucket_id,
        )
    )


def categories_of(session: ReadSession, account_id: str, bucket_id: int) -> list[Category]:
    """In the order they were made."""
    return list(
        session.scalars(
            select(Category)
            .where(Category.account_id == account_id, Category.bucket_id == bucket_id)
            .order_by(Category.id)
        )
    )


def get_category(
    session: ReadSession, account_id: str, bucket_id: int, category_id: str
) -> Category:
    """Raises NotFound for an id that does not exist in this bucket and for another account's."""
    category = session.get(Category, category_id)
    if category is None or category.account_id != account_id or category.bucket_id != bucket_id:
        raise NotFound(
            "There is no category with this id in this bucket.",
            hint="list_bucket_categories shows the categories of a bucket and their ids. They "
            "change when a bucket is sorted anew.",
        )
    return category


def unsorted_count(session: ReadSession, account_id: str, bucket_id: int, made_with: str) -> int:
    """How many memories of the bucket have changed since it was sorted: came, were edited, went;
    all of them when it was sorted in another way."""
    state = categorisation(session, account_id, bucket_id)
    total, placed = session.execute(
        select(func.count(Memory.id), func.count(CategoryMembership.memory_id))
        .outerjoin(CategoryMembership, _placed())
        .where(Memory.account_id == account_id, _current(bucket_id))
    ).one()
    if state is None or state.made_with != made_with:
        return int(total)
    return int(total - placed) + max(0, state.memory_count - int(placed))


@dataclass(frozen=True, slots=True)
class MemberHead:
    """A member without its text. `text_hash` is that of its present text."""

    id: str
    text_hash: str
    created_at: datetime


def members_by_category(
    session: ReadSession, account_id: str, bucket_id: int
) -> dict[str, list[MemberHead]]:
    """The members of each category of the bucket, newest first; empty categories are left out."""
    rows = session.execute(
        select(CategoryMembership.category_id, Memory.id, Memory.text_hash, Memory.created_at)
        .join(Memory, _placed())
        .where(Memory.account_id == account_id, _current(bucket_id))
        .order_by(Memory.created_at.desc(), Memory.id.desc())
    )
    found: dict[str, list[MemberHead]] = {}
    for category_id, memory_id, text_hash, created_at in rows:
        found.setdefault(category_id, []).append(MemberHead(memory_id, text_hash, created_at))
    return found


def count_members(session: ReadSession, account_id: str, category: Category) -> int:
    """How many memories of the category hold now."""
    statement = (
        select(func.count())
        .select_from(Memory)
        .join(CategoryMembership, _placed())
        .where(
            Memory.account_id == account_id,
            _current(category.bucket_id),
            CategoryMembership.category_id == category.id,
        )
    )
    return session.scalars(statement).one()


def members(
    session: ReadSession,
    account_id: str,
    category: Category,
    *,
    offset: int = 0,
    limit: int | None = None,
) -> list[Memory]:
    """The memories of the category that hold now, newest first."""
    query = (
        select(Memory)
        .join(CategoryMembership, _placed())
        .where(
            Memory.account_id == account_id,
            _current(category.bucket_id),
            CategoryMembership.category_id == category.id,
        )
        .order_by(Memory.created_at.desc(), Memory.id.desc())
        .offset(offset)
        .limit(limit)
    )
    return list(session.scalars(query))


def replace_sorting(
    session: WriteSession,
    account_id: str,
    bucket_id: int,
    *,
    seen_revision: int,
    made_with: str,
    grouped_count: int,
    categories: Sequence[Category],
    memberships: Sequence[Membership],
) -> bool:
    """Writes a new sorting of the bucket over the former one.

    False, and nothing is written, when somebody else has sorted it since `seen_revision` (0 for
    never), or the bucket is gone. Memories that went meanwhile are left out.
    """
    # No more than `hold_for_sorting` has: whoever changes a memory holds the bucket a little, too,
    # before taking it to themselves, and each would wait for the other.
    bucket = session.get(Bucket, bucket_id, with_for_update={"key_share": True})
    if bucket is None or bucket.account_id != account_id:
        return False
    state = session.get(BucketCategorisation, bucket_id, populate_existing=True)
    if (state.revision if state else 0) != seen_revision:
        return False
    session.execute(
        delete(CategoryMembership)
        .where(CategoryMembership.bucket_id == bucket_id)
        .execution_options(synchronize_session=False)
    )
    kept = [each.id for each in categories]
    session.execute(
        delete(Category)
        .where(Category.bucket_id == bucket_id, Category.id.not_in(kept))
        .execution_options(synchronize_session=False)
    )
    for category in categories:
        session.merge(category)
    session.flush()
    written = _write_memberships(session, account_id, bucket_id, memberships)
    if state is None:
        state = BucketCategorisation(bucket_id=bucket_id, account_id=account_id, revision=0)
        session.add(state)
    state.revision += 1
    state.made_with = made_with
    state.memory_count = written
    state.grouped_count = grouped_count
    state.made_at = utcnow()
    return True


def _write_memberships(
    session: WriteSession, account_id: str, bucket_id: int, memberships: Sequence[Membership]
) -> int:
    there: set[str] = set()
    for some in chunks([each.memory_id for each in memberships]):
        there.update(session.scalars(select(Memory.id).where(Memory.id.in_(some))))
        # It may still be noted for the bucket that it was moved from.
        session.execute(
            delete(CategoryMembership)
            .where(CategoryMembership.memory_id.in_(some))
            .execution_options(synchronize_session=False)
        )
    session.add_all(
        CategoryMembership(
            memory_id=each.memory_id,
            account_id=account_id,
            bucket_id=bucket_id,
            category_id=each.category_id,
            text_hash=each.text_hash,
            vector=each.vector,
            vector_with=each.vector_with,
        )
        for each in memberships
        if each.memory_id in there
    )
    return len(there)


def hold_for_sorting(session: WriteSession, account_id: str, bucket_ids: Sequence[int]) -> None:
    """Until the transaction ends nobody else sorts the buckets, or takes memories out of them;
    storing goes on. Lowest id first, so that two who hold several do not wait for each other."""
    mine = select(Bucket.id).where(Bucket.account_id == account_id, Bucket.id.in_(bucket_ids))
    session.execute(mine.order_by(Bucket.id).with_for_update(key_share=True)).all()


def categories_telling(
    session: ReadSession, account_id: str, bucket_ids: Sequence[int], memory_ids: Sequence[str]
) -> list[Category]:
    """Categories of the buckets that one of the memories is in, or that quote or name one."""
    wanted = set(memory_ids)
    placed: set[str] = set()
    for some in chunks(memory_ids):
        placed.update(
            session.scalars(
                select(CategoryMembership.category_id).where(
                    CategoryMembership.account_id == account_id,
                    CategoryMembership.memory_id.in_(some),
                )
            )
        )
    query = select(Category).where(
        Category.account_id == account_id,
        Category.bucket_id.in_(bucket_ids) | Category.id.in_(placed),
    )
    return [
        each
        for each in session.scalars(query.order_by(Category.id))
        if each.id in placed or not wanted.isdisjoint(_told_of(each))
    ]


def _told_of(category: Category) -> set[str]:
    """Ids of the memories that its summary and pointers are from."""
    told = {key for each in category.summary for key, _ in each["memories"]}
    return told.union(*(each["memories"] for each in category.pointers))


def texts_left(
    session: ReadSession, account_id: str, category: Category, without: Collection[str]
) -> Iterator[str]:
    """Texts of the category's members but those, read as they are asked for."""
    query = (
        select(Memory.id, Memory.text)
        .join(CategoryMembership, _placed())
        .where(
            Memory.account_id == account_id,
            _current(category.bucket_id),
            CategoryMembership.category_id == category.id,
        )
        .execution_options(yield_per=100)
    )
    with session.execute(query) as rows:
        for memory_id, text in rows:
            if memory_id not in without:
                yield text


def hashes_now(session: ReadSession, account_id: str, bucket_id: int) -> dict[str, str]:
    """Hash of the present text of each memory of the bucket that holds now, by its id."""
    query = select(Memory.id, Memory.text_hash).where(
        Memory.account_id == account_id, _current(bucket_id)
    )
    return dict(session.execute(query).all())


def all_buckets(session: ReadSession) -> list[tuple[str, int]]:
    """Account and id of every bucket on the server, for the work that looks after all of them."""
    rows = session.execute(select(Bucket.account_id, Bucket.id).order_by(Bucket.id))
    return [(account_id, bucket_id) for account_id, bucket_id in rows]


def buckets_with_newcomers(session: ReadSession, account_id: str) -> list[int]:
    """Buckets with memories that were never sorted there, lowest id first."""
    query = (
        select(Memory.bucket_id)
        .outerjoin(CategoryMembership, _placed())
        .where(
            Memory.account_id == account_id,
            Memory.superseded_by.is_(None),
            CategoryMembership.memory_id.is_(None),
        )
    )
    return list(session.scalars(query.distinct().order_by(Memory.bucket_id)))


def has_pending(session: ReadSession, account_id: str, bucket_id: int) -> bool:
    """Whether a category waits for a language model that could not be asked."""
    statement = select(Category.id).where(
        Category.account_id == account_id, Category.bucket_id == bucket_id, Category.is_pending
    )
    return session.scalar(statement.limit(1)) is not None
