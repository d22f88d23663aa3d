"""Recent or all memories beside the list of buckets: what a conversation starts with."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.store.repositories import memories as store
from backread.store.repositories.memories import MemoryFilter
from backread.tokens import estimate_tokens
from recall.memories.buckets import bucket_views, existing_bucket
from recall.memories.finding import find_memories
from recall.memories.results import BucketView, MemoriesAndBuckets, ShownMemory
from recall.memories.showing import FIELD_TOKENS, cost, cut_to, shown
from recall.memories.superseding import MOST_STEPS

DEFAULT_COUNT = 10
# One page, whatever is asked for: clients refuse results over 25,000 tokens.
PAGE_TOKENS = 12_000
_BUCKETS_TOKENS = 3_000
_BUCKET_TOKENS = 40
_MOST_RANKED = 50
_CURSOR = re.compile(r"(?P<micros>[0-9]{1,17})-(?P<id>[0-9a-hjkmnp-tv-z]{26})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def memories_and_buckets(
    kernel: Kernel,
    principal: Principal,
    *,
    bucket_id: int | str | None = None,
    count: int = DEFAULT_COUNT,
    every: bool = False,
    query: str = "",
    cursor: str = "",
    page_tokens: int = PAGE_TOKENS,
) -> MemoriesAndBuckets:
    """The newest memories that hold, or with `every` all, the superseded ones too, a page at a
    time; with `query` the best matches instead, at most 50. `cursor` goes on after a page.

    Raises LimitExceeded for a count below 1, NotFound for an unknown bucket and InvalidInput for
    a cursor that no page gave.
    """
    if count < 1:
        raise LimitExceeded(f"`count` is {count}; it must be 1 at least.")
    if query.strip():
        if cursor:
            raise InvalidInput(
                "A search has no further pages.", hint="Leave `cursor` out, or leave `query` out."
            )
        found = find_memories(
            kernel,
            principal,
            query,
            bucket_id=bucket_id,
            limit=_MOST_RANKED if every else min(count, _MOST_RANKED),
        )
        memories: list[ShownMemory] = [*found.memories]
        page, _ = _fitting(memories, page_tokens)
        with kernel.store.read() as session:
            buckets = bucket_views(session, principal)
        return _result(page, len(memories), buckets, query=query.strip())
    account_id = principal.account_id
    with kernel.store.read() as session:
        bucket = existing_bucket(session, principal, bucket_id)
        after = _read_cursor(cursor) if cursor else None
        wanted = MemoryFilter(bucket, only_current=not every, older_than=after)
        total = store.count_memories(session, account_id, wanted)
        most = page_tokens // FIELD_TOKENS + 1  # more than these fit into no page
        limit = most if every else min(count, most)
        rows = store.list_memories(session, account_id, wanted, limit=limit + 1)
        views = shown(session, account_id, rows[:limit], kernel.settings.origin)
        page, is_cut = _fitting(views, page_tokens)
        buckets = bucket_views(session, principal)
        has_more = is_cut or (len(rows) > limit and (every or count > limit))
    last = rows[len(page) - 1] if page and has_more else None
    return _result(page, total, buckets, next_=_cursor(last.created_at, last.id) if last else "")


def _fitting(views: Sequence[ShownMemory], tokens: int) -> tuple[list[ShownMemory], bool]:
    """As many as fit, one at least, and whether some are left."""
    page: list[ShownMemory] = []
    for view in views:
        if page and cost(view) > tokens:
            return page, True
        page.append(view if page else cut_to(view, tokens))
        tokens -= cost(page[-1])
    return page, False


def _result(
    page: Sequence[ShownMemory],
    total: int,
    buckets: Sequence[BucketView],
    *,
    next_: str = "",
    query: str = "",
) -> MemoriesAndBuckets:
    return MemoriesAndBuckets(
        memories=[_without_score(each) for each in page],
        memory_total=total,
        buckets=buckets_within(buckets, _BUCKETS_TOKENS),
        bucket_total=len(buckets),
        next=next_,
        query=query,
    )


def _without_score(memory: ShownMemory) -> ShownMemory:
    if type(memory) is ShownMemory:
        return memory
    return ShownMemory.model_construct(**memory.model_dump(by_alias=False, exclude={"score"}))


def buckets_within(buckets: Sequence[BucketView], tokens: int) -> list[BucketView]:
    """As many as fit, in their order."""
    kept: list[BucketView] = []
    for each in buckets:
        tokens -= estimate_tokens(each.name) + _BUCKET_TOKENS
        if tokens < 0 and kept:
            break
        kept.append(each)
    return kept


def _cursor(created_at: datetime, memory_id: str) -> str:
    return f"{(created_at - _EPOCH) // timedelta(microseconds=1)}-{memory_id}"


def _read_cursor(cursor: str) -> tuple[datetime, str]:
    match = _CURSOR.fullmatch(cursor.strip())
    if match is None:
        raise InvalidInput(
            "`cursor` is not one that a page gave.",
            hint="Leave it out for the first page; each page says how to get the next.",
        )
    return _EPOCH + timedelta(microseconds=int(match["micros"])), match["id"]


def current_memories(
    kernel: Kernel,
    principal: Principal,
    *,
    bucket_id: int | str | None = None,
    cursor: str = "",
    limit: int = 50,
) -> tuple[list[ShownMemory], int, str]:
    """A page of the memories that hold, newest first, whatever they cost in tokens; how many there
    are; and the next page's cursor, empty at the end. Raises NotFound and InvalidInput as
    `memories_and_buckets` does."""
    account_id = principal.account_id
    with kernel.store.read() as session:
        bucket = existing_bucket(session, principal, bucket_id)
        after = _read_cursor(cursor) if cursor else None
        wanted = MemoryFilter(bucket, only_current=True, older_than=after)
        rows = store.list_memories(session, account_id, wanted, limit=limit + 1)
        views = shown(session, account_id, rows[:limit], kernel.settings.origin)
        total = store.count_memories(session, account_id, wanted)
    last = rows[limit - 1] if len(rows) > limit else None
    return views, total, _cursor(last.created_at, last.id) if last else ""


def former_versions(
    kernel: Kernel, principal: Principal, memories: Sequence[ShownMemory]
) -> dict[str, list[ShownMemory]]:
    """By id of a memory: what it took the place of, and what those had, newest first."""
    account_id = principal.account_id
    found: dict[str, list[ShownMemory]] = {}
    with kernel.store.read() as session:
        wanted = {former: each.memory_id for each in memories for former in each.supersedes}
        for _ in range(MOST_STEPS):
            rows = store.memories_by_id(session, account_id, wanted)
            views = shown(session, account_id, list(rows.values()), kernel.settings.origin)
            for view in views:
                found.setdefault(wanted[view.memory_id], []).append(view)
            wanted = {
                former: wanted[view.memory_id] for view in views for former in view.supersedes
            }
            if not wanted:
                break
    return {
        key: sorted(group, key=lambda each: each.created_at, reverse=True)
        for key, group in found.items()
    }
