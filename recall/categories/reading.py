"""The categories of a bucket, and the memories of one.

Each tool of the contract is one function here. What is shown is true of the memories as they are:
a sentence whose memory was deleted, moved or edited is left out, whatever was written down.
"""

from collections.abc import Mapping, Sequence

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.store.engine import ReadSession
from backread.store.models import Category
from backread.store.repositories import categories as store
from backread.store.repositories import memories as memory_store
from backread.store.repositories.categories import MemberHead
from backread.tokens import estimate_tokens
from recall.categories.asking import enqueue_categorising
from recall.categories.results import (
    BucketCategories,
    CategoryMemories,
    CategoryView,
    Pointer,
    SummarySentence,
    joined,
)
from recall.categories.sorting import REST
from recall.categories.updating import SOON, categorise_bucket, made_with
from recall.memories.buckets import bucket_number
from recall.memories.results import ShownMemory
from recall.memories.showing import cost, cut_to, shown

RECENT = 30
RESULT_TOKENS = 15_000
MOST_LISTED = 1_000

_RECENT_TOKENS = 5_000
_POINTED = 5


def bucket_categories(
    kernel: Kernel, principal: Principal, bucket_id: int | str
) -> BucketCategories:
    """The bucket's categories with summaries, and its 30 newest memories.

    Where little has changed since it was sorted, that is done first; else it is asked for, and
    the answer says that it is being made. Raises NotFound for an unknown bucket, Unavailable when
    the embedding model is away.
    """
    account_id, number = principal.account_id, bucket_number(bucket_id)
    with kernel.store.read() as session:
        bucket = memory_store.get_bucket(session, account_id, number)
        waiting = store.unsorted_count(session, account_id, number, made_with(kernel))
    if 0 < waiting <= SOON:
        categorise_bucket(kernel, account_id, number)
    with kernel.store.read() as session:
        waiting = store.unsorted_count(session, account_id, number, made_with(kernel))
        is_pending = store.has_pending(session, account_id, number)
        views = _views(session, account_id, number)
        wanted = memory_store.MemoryFilter(number, only_current=True)
        total = memory_store.count_memories(session, account_id, wanted)
        rows = memory_store.list_memories(session, account_id, wanted, limit=RECENT)
        recent = shown(session, account_id, rows, kernel.settings.origin)
    if waiting or is_pending:
        with kernel.store.write() as session:
            enqueue_categorising(session, account_id, number)
    recent = _within(recent, _RECENT_TOKENS)
    return BucketCategories(
        bucket_id=number,
        bucket_name=bucket.name,
        memory_count=total,
        state="empty" if not total else "being_made" if waiting else "ready",
        waiting=min(waiting, total),
        categories=_fitting(views, RESULT_TOKENS - sum(cost(each) for each in recent)),
        recent_memories=recent,
    )


def category_memories(
    kernel: Kernel,
    principal: Principal,
    bucket_id: int | str,
    category_id: str,
    *,
    limit: int | None = None,
    cursor: str = "",
    page_tokens: int = RESULT_TOKENS,
) -> CategoryMemories:
    """The category's full memories, newest first: as many as `limit` says and a result can hold.

    `cursor` goes on after a page. Raises NotFound for an unknown bucket or category,
    LimitExceeded for a limit below 1 and InvalidInput for a cursor that no page gave.
    """
    if limit is not None and limit < 1:
        raise LimitExceeded(f"`limit` is {limit}; it must be 1 at least.")
    account_id, number = principal.account_id, bucket_number(bucket_id)
    start = _read_cursor(cursor)
    most = min(limit or MOST_LISTED, MOST_LISTED)
    with kernel.store.read() as session:
        bucket = memory_store.get_bucket(session, account_id, number)
        category = store.get_category(session, account_id, number, category_id.strip())
        total = store.count_members(session, account_id, category)
        rows = store.members(session, account_id, category, offset=start, limit=most)
        views = shown(session, account_id, rows, kernel.settings.origin)
    page: list[ShownMemory] = []
    for view in views:
        if page and cost(view) > page_tokens:
            break
        page.append(view if page else cut_to(view, page_tokens))
        page_tokens -= cost(page[-1])
    after = start + len(page)
    # What `limit` cut off was not asked for; what the budget cut off was.
    has_more = len(page) < len(views) or (limit is None and after < total)
    return CategoryMemories(
        bucket_id=number,
        bucket_name=bucket.name,
        category_id=category.id,
        name=category.name,
        memory_count=total,
        memories=page,
        next=str(after) if has_more else "",
    )


def _views(session: ReadSession, account_id: str, bucket_id: int) -> list[CategoryView]:
    """Largest first, the rest last; empty ones are left out."""
    members = store.members_by_category(session, account_id, bucket_id)
    views = [
        _view(category, members[category.id])
        for category in store.categories_of(session, account_id, bucket_id)
        if category.id in members
    ]
    views.sort(key=lambda each: (each.kind == REST, -each.memory_count, each.category_id))
    return views


def _view(category: Category, members: Sequence[MemberHead]) -> CategoryView:
    now = {each.id: each.text_hash for each in members}
    sentences = [
        SummarySentence(text=each["text"], memory_ids=[key for key, _ in each["memories"]])
        for each in category.summary
        if all(now.get(key) == text_hash for key, text_hash in each["memories"])
    ]
    return CategoryView(
        category_id=category.id,
        name=category.name,
        kind=category.kind,
        memory_count=len(members),
        summary=joined(sentences),
        sentences=sentences,
        pointers=_pointers(category, now),
        first_stored_at=members[-1].created_at,
        last_stored_at=members[0].created_at,
    )


def _pointers(category: Category, now: Mapping[str, str]) -> list[Pointer]:
    found = []
    for each in category.pointers:
        there = [key for key in each["memories"] if key in now]
        if there:
            found.append(
                Pointer(phrase=each["phrase"], memory_count=len(there), memory_ids=there[:_POINTED])
            )
    return found


def _within(memories: Sequence[ShownMemory], tokens: int) -> list[ShownMemory]:
    """All of them; long ones are cut so that together they fit."""
    share = max(20, tokens // max(1, len(memories)))
    return [cut_to(each, share) for each in memories]


def _fitting(views: Sequence[CategoryView], tokens: int) -> list[CategoryView]:
    """All categories; where there are many, each keeps less of its summary."""
    share = tokens // max(1, len(views))
    return [_shortened(each, share) for each in views]


def _shortened(view: CategoryView, tokens: int) -> CategoryView:
    # Told twice: as text and as fields with ids.
    left = tokens - 150 - sum(estimate_tokens(each.phrase) + 20 for each in view.pointers)
    kept: list[SummarySentence] = []
    for each in view.sentences:
        left -= estimate_tokens(each.text) + 12 * len(each.memory_ids)
        if left < 0 and kept:
            break
        kept.append(each)
    if len(kept) == len(view.sentences):
        return view
    return view.model_copy(update={"sentences": kept, "summary": joined(kept)})


def _read_cursor(cursor: str) -> int:
    text = cursor.strip()
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInput(
            "`cursor` is not one that a page gave.",
            hint="Leave it out for the first page; each page says how to get the next.",
        )
    return int(text)
