"""Sorting a bucket anew after its memories have changed.

Asked for by whatever changes memories, done by a background job, one a bucket. Whoever asks for
the categories of a bucket in which only a little has changed gets it done at once.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from backread.follow_ups import CONVERSATIONS_CHANGED
from backread.identity import new_id
from backread.jobs import UPKEEP, JobContext, Queue, job
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import BucketCategorisation, Category
from backread.store.repositories import categories as store
from backread.store.repositories.categories import Membership, SortedMemory
from recall.categories.asking import CATEGORISE_BUCKET, enqueue_categorising
from recall.categories.sorting import Item, Plan, plan
from recall.categories.withdrawing import take_out
from recall.categories.writing import Draft, Member, write_all, write_with_model
from recall.grouping.clustering import Vectors
from recall.summarising.planning import agreed_model

MAKER = "categories-2"
SOON = 64  # so many changed memories are sorted while somebody waits
_EMBED_BATCH = 64
_VECTOR = np.dtype("<f2")

_log = get_logger(__name__)


def made_with(kernel: Kernel) -> str:
    """Names the way of sorting and the embedding model; all is sorted anew when it changes."""
    return f"{MAKER}|{kernel.embedder.signature}"[:200]


@job(CATEGORISE_BUCKET, queue=Queue.BACKGROUND)
def categorise_bucket_job(context: JobContext, *, bucket_id: int) -> None:
    if context.account_id is not None:
        categorise_bucket(context.kernel, context.account_id, bucket_id, context=context)


def categorise_bucket(
    kernel: Kernel,
    account_id: str,
    bucket_id: int,
    *,
    context: JobContext | None = None,
    anew: bool = False,
) -> bool:
    """Sorts the bucket's memories as they are now; False when another process did it meanwhile.

    Only a job, which has a `context`, asks a language model, since that takes seconds a category.
    Raises Unavailable when the embedding model cannot be had.
    """
    with kernel.store.read() as session:
        state = store.categorisation(session, account_id, bucket_id)
        former = {each.id: each for each in store.categories_of(session, account_id, bucket_id)}
        memories = store.memories_to_sort(session, account_id, bucket_id)
    signature = made_with(kernel)
    is_same_way = state is not None and state.made_with == signature
    vectors = _vectors(kernel, memories, context)
    planned = plan(
        [Item(each.text, each.category_id) for each in memories],
        vectors,
        {key: category.kind for key, category in former.items()},
        grouped_count=state.grouped_count if state else 0,
        anew=anew or not is_same_way,
    )
    drafts = _drafts(account_id, bucket_id, planned, memories, former)
    rows = [vectors[list(each.members)] for each in planned.categories]
    if drafts:
        write_all(drafts, rows, kernel.embedder.embed_passages)
    _ask_model(kernel, account_id, drafts, context)
    return _write(kernel, account_id, bucket_id, state, planned, memories, vectors, drafts)


def _ask_model(
    kernel: Kernel, account_id: str, drafts: Sequence[Draft], context: JobContext | None
) -> None:
    model = kernel.language_model
    if model is None:
        for draft in drafts:
            draft.category.is_pending = False
        return
    is_agreed = context is not None and agreed_model(kernel, account_id) is not None
    for number, draft in enumerate(drafts):
        if context is None or not is_agreed:
            draft.category.is_pending |= not draft.is_unchanged
            continue
        context.report(number, len(drafts))
        write_with_model(draft, model, account_id)


def _vectors(
    kernel: Kernel, memories: Sequence[SortedMemory], context: JobContext | None
) -> Vectors:
    """A unit vector a memory; only those without one of this model are embedded."""
    signature = kernel.embedder.signature[:200]
    rows = np.zeros((len(memories), kernel.embedder.dimensions if memories else 0), np.float32)
    lacking = []
    for place, memory in enumerate(memories):
        if memory.vector is not None and memory.vector_with == signature:
            rows[place] = np.frombuffer(memory.vector, dtype=_VECTOR)
        else:
            lacking.append(place)
    for start in range(0, len(lacking), _EMBED_BATCH):
        some = lacking[start : start + _EMBED_BATCH]
        if context is not None:
            context.report(start, len(lacking))
        found = kernel.embedder.embed_passages([memories[place].text for place in some])
        # Halved at once, so that a run with kept vectors gives what this one gives.
        rows[some] = found.astype(_VECTOR).astype(np.float32)
    if context is not None and lacking:
        context.report(len(lacking), len(lacking))
    return rows


def _drafts(
    account_id: str,
    bucket_id: int,
    planned: Plan,
    memories: Sequence[SortedMemory],
    former: dict[str, Category],
) -> list[Draft]:
    drafts = []
    now = utcnow()
    for each in planned.categories:
        known = former.get(each.id) if each.id else None
        members = [
            Member(memories[place].id, memories[place].text, memories[place].text_hash)
            for place in each.members
        ]
        category = Category(
            id=known.id if known else new_id(),
            account_id=account_id,
            bucket_id=bucket_id,
            kind=each.kind,
            name="",
            phrases=[],
            written_by="",
            is_pending=False,
            created_at=known.created_at if known else now,
            changed_at=known.changed_at if known else now,
        )
        draft = Draft(category, members, known)
        if not draft.is_unchanged:
            category.changed_at = now
        drafts.append(draft)
    return drafts


def _write(
    kernel: Kernel,
    account_id: str,
    bucket_id: int,
    state: BucketCategorisation | None,
    planned: Plan,
    memories: Sequence[SortedMemory],
    vectors: Vectors,
    drafts: Sequence[Draft],
) -> bool:
    signature = kernel.embedder.signature[:200]
    grouped = len(memories) if planned.is_anew or state is None else state.grouped_count
    with kernel.store.write() as session:
        store.hold_for_sorting(session, account_id, [bucket_id])
        there = store.hashes_now(session, account_id, bucket_id)
        kept = {draft.category.id for draft in drafts if _is_true_of(draft, there)}
        memberships = [
            Membership(
                memory_id=memories[place].id,
                category_id=draft.category.id,
                text_hash=memories[place].text_hash,
                vector=vectors[place].astype(_VECTOR).tobytes(),
                vector_with=signature,
            )
            for each, draft in zip(planned.categories, drafts, strict=True)
            for place in each.members
            if draft.category.id in kept
        ]
        written = store.replace_sorting(
            session,
            account_id,
            bucket_id,
            seen_revision=state.revision if state else 0,
            made_with=made_with(kernel),
            grouped_count=grouped,
            categories=[draft.category for draft in drafts if draft.category.id in kept],
            memberships=memberships,
        )
    _log.info("bucket_categorised", memories=len(memories), categories=len(drafts), kept=written)
    return written


def _is_true_of(draft: Draft, there: Mapping[str, str]) -> bool:
    """Takes out of the draft what went while it was made. False when nothing is left of it."""
    gone = [each for each in draft.members if there.get(each.id) != each.text_hash]
    if gone:
        lost = {each.id for each in gone}
        left = (each.text for each in draft.members if each.id not in lost)
        take_out(draft.category, {each.id: each.text for each in gone}, left)
    return len(gone) < len(draft.members)


def after_change(kernel: Kernel, session: WriteSession, account_id: str) -> None:
    """An archive of Backread brings memories, too."""
    enqueue_categorising(session, account_id, *store.buckets_with_newcomers(session, account_id))


def look_after_categories(kernel: Kernel) -> None:
    """Sorting buckets whose memories changed unnoticed, and asking a language model again that
    could not be asked."""
    with kernel.store.read() as session:
        way = made_with(kernel)
        changed = [
            (account_id, bucket_id)
            for account_id, bucket_id in store.all_buckets(session)
            if store.unsorted_count(session, account_id, bucket_id, way)
            or (
                store.has_pending(session, account_id, bucket_id)
                and agreed_model(kernel, account_id)
            )
        ]
    for account_id, bucket_id in changed:
        with kernel.store.write() as session:
            enqueue_categorising(session, account_id, bucket_id)


CONVERSATIONS_CHANGED.append(after_change)
UPKEEP.append(look_after_categories)
