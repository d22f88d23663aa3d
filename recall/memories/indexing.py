"""Memories in the search index, at once where the index can be reached."""

from collections.abc import Sequence

from backread.errors import Unavailable
from backread.jobs import enqueue
from backread.kernel import Kernel
from backread.store.models import Memory
from backread.store.repositories import memories as store
from backread.store.repositories.removals import confirm_removals
from backread.vectors.index import Collection, IndexPoint

EMBED_MEMORIES = "ingest.embed_memories"


def memory_point(memory: Memory, vector: Sequence[float] | None) -> IndexPoint:
    """How a memory lies in the search index."""
    return IndexPoint(
        id=memory.point_id,
        account_id=memory.account_id,
        group=str(memory.bucket_id),
        text=memory.text,
        vector=vector,
        occurred_at=memory.created_at,
    )


def index_memories(kernel: Kernel, account_id: str, memories: Sequence[Memory]) -> None:
    """Makes them searchable at once. When the index is away a job does it later, and until then
    the words of a memory find it."""
    if not memories:
        return
    embedder = kernel.embedder  # the same one throughout, should models change meanwhile
    try:
        vectors = embedder.embed_passages([memory.text for memory in memories])
        points = [
            memory_point(memory, vector.tolist())
            for memory, vector in zip(memories, vectors, strict=True)
        ]
        kernel.index.upsert(Collection.MEMORIES, points, model=embedder.signature)
        mark = kernel.signature_with(embedder)
    except Unavailable:
        _leave_to_a_job(kernel, account_id)
        return
    with kernel.store.write() as session:
        point_ids = [memory.point_id for memory in memories]
        store.mark_memories_indexed(session, account_id, point_ids, mark)


def remove_from_index(kernel: Kernel, account_id: str, point_ids: Sequence[int]) -> None:
    """Carries the recorded removals out at once. When the index is away a job does it later; the
    database, which has none of them any more, decides what is found until then."""
    try:
        kernel.index.delete(Collection.MEMORIES, account_id, point_ids)
        kernel.index.flush()
    except Unavailable:
        _leave_to_a_job(kernel, account_id)
        return
    with kernel.store.write() as session:
        confirm_removals(session, Collection.MEMORIES, point_ids)


def _leave_to_a_job(kernel: Kernel, account_id: str) -> None:
    with kernel.store.write() as session:
        enqueue(
            session,
            EMBED_MEMORIES,
            account_id=account_id,
            dedupe_key=f"embed_memories:{account_id}",
        )
