"""Editing a memory, and moving memories between buckets."""

from collections.abc import Sequence

from backread.domain import Principal
from backread.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from backread.identity import statement_hash
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Bucket, Memory
from backread.store.repositories import memories as store
from backread.store.repositories.memories import Said
from recall.categories.asking import enqueue_categorising
from recall.categories.withdrawing import withdraw
from recall.memories.buckets import bucket_by_name, find_bucket
from recall.memories.duplicates import Duplicates
from recall.memories.echoes import refuse_recalled
from recall.memories.indexing import index_memories
from recall.memories.keeping import checked_text
from recall.memories.results import ChangedMemories
from recall.memories.superseding import retired_hash, supersede

MOST_AT_ONCE = 100


def edit_memory(
    kernel: Kernel,
    principal: Principal,
    memory_id: str,
    *,
    text: str | None = None,
    bucket_id: int | str | None = None,
    bucket_name: str = "",
    supersedes: str = "",
) -> ChangedMemories:
    """Gives a memory another text, another bucket, or both.

    Raises NotFound for an unknown memory or bucket; Conflict when the bucket holds a memory that
    says the same; InvalidInput when there is nothing to change, both ways to name a bucket are
    used, or a client copied the text from a recalled chat.
    """
    _check_bucket(bucket_id, bucket_name)
    if text is None and bucket_id is None and not bucket_name and not supersedes:
        raise InvalidInput(
            "Nothing to change is given.", hint="Give `text`, `bucketId` or `bucketName`."
        )
    if text is not None:
        text = checked_text(text)
        refuse_recalled(kernel, principal, text)
    with kernel.store.write() as session:
        if supersedes:
            store.lock_lines(session, principal.account_id)
        memory = store.get_memory(session, principal.account_id, memory_id.strip())
        bucket, created = _target(session, principal, bucket_id, bucket_name, memory)
        is_edited = text is not None and text != memory.text
        moved = memory.bucket_id != bucket.id
        if is_edited or moved:
            wanted = text if text is not None else memory.text
            _change_all(session, principal, [(memory, wanted)], bucket)
        former = supersede(session, principal, memory, supersedes) if supersedes else None
        result = ChangedMemories(
            memory_ids=[memory.id],
            bucket_id=bucket.id,
            bucket_name=bucket.name,
            bucket_created=created,
            edited=is_edited,
            moved=int(moved),
            superseded=former.id if former else "",
        )
    if is_edited or moved:
        index_memories(kernel, principal.account_id, [memory])
    return result


def move_memories(
    kernel: Kernel,
    principal: Principal,
    memory_ids: Sequence[str],
    *,
    bucket_id: int | str | None = None,
    bucket_name: str = "",
) -> ChangedMemories:
    """Moves memories, all or none. Those that are there already stay.

    Raises LimitExceeded beyond 100 and as `edit_memory` does.
    """
    _check_bucket(bucket_id, bucket_name)
    ids = checked_ids(memory_ids)
    if bucket_id is None and not bucket_name:
        raise InvalidInput(
            "Where to move them is not given.", hint="Give `bucketId` or `bucketName`."
        )
    with kernel.store.write() as session:
        found = all_memories(session, principal, ids)
        bucket, created = _target(session, principal, bucket_id, bucket_name, found[0])
        leaving = [each for each in found if each.bucket_id != bucket.id]
        _change_all(session, principal, [(each, each.text) for each in leaving], bucket)
        result = ChangedMemories(
            memory_ids=ids,
            bucket_id=bucket.id,
            bucket_name=bucket.name,
            bucket_created=created,
            moved=len(leaving),
        )
    index_memories(kernel, principal.account_id, leaving)
    return result


def checked_ids(memory_ids: Sequence[str]) -> list[str]:
    """Each once, in their order. Raises InvalidInput for none, LimitExceeded beyond 100."""
    if len(memory_ids) > MOST_AT_ONCE:
        raise LimitExceeded(
            f"`memoryIds` holds {len(memory_ids)} ids; {MOST_AT_ONCE} are allowed.",
            hint="Make several calls.",
        )
    ids = list(dict.fromkeys(each.strip() for each in memory_ids))
    if not ids:
        raise InvalidInput("`memoryIds` is empty.", hint="Name one memory at least.")
    return ids


def all_memories(session: WriteSession, principal: Principal, ids: Sequence[str]) -> list[Memory]:
    """In the order of the ids. Raises NotFound, naming them, when one or more do not exist."""
    found = store.memories_by_id(session, principal.account_id, ids)
    missing = [each[:40] for each in ids if each not in found]
    if missing:
        raise NotFound(
            f"Nothing was changed, because there is no memory with the id {', '.join(missing[:10])}"
            f"{' and others' if len(missing) > 10 else ''}.",
            hint="search_memories and get_memories_and_buckets show the ids.",
        )
    return [found[each] for each in ids]


def _check_bucket(bucket_id: int | str | None, bucket_name: str) -> None:
    if bucket_id is not None and bucket_name:
        raise InvalidInput(
            "`bucketId` and `bucketName` are both given.", hint="Name the bucket one way."
        )


def _target(
    session: WriteSession,
    principal: Principal,
    bucket_id: int | str | None,
    bucket_name: str,
    memory: Memory,
) -> tuple[Bucket, bool]:
    """The bucket that the call names, else the memory's own; and whether it was made."""
    if bucket_name:
        return bucket_by_name(session, principal, bucket_name)
    return find_bucket(
        session, principal, memory.bucket_id if bucket_id is None else bucket_id
    ), False


def _change_all(
    session: WriteSession,
    principal: Principal,
    wanted: Sequence[tuple[Memory, str]],
    bucket: Bucket,
) -> None:
    """Gives each memory its text and the bucket. The categories tell nothing of them until the
    buckets are sorted anew. Raises Conflict as `edit_memory` does."""
    if not wanted:
        return
    memories = [memory for memory, _ in wanted]
    withdraw(session, principal.account_id, memories)
    touched = sorted({bucket.id, *(each.bucket_id for each in memories)})
    enqueue_categorising(session, principal.account_id, *touched)
    holding = [text for memory, text in wanted if not memory.superseded_by]
    known = Duplicates(session, principal.account_id, bucket.id, holding)
    for memory, text in wanted:
        if not memory.superseded_by:
            found = known.of(text, but=memory.id)
            if found is not None:
                raise _said_already(bucket, memory, *found)
            known.add(memory.id, text)
        memory.text = text
        memory.bucket_id = bucket.id
        memory.text_hash = retired_hash(memory) if memory.superseded_by else statement_hash(text)
        memory.updated_at = utcnow()
        memory.updated_by = principal.client_id
        memory.dense_with = ""
    session.flush()


def _said_already(bucket: Bucket, memory: Memory, other: Said, how: str) -> Conflict:
    return Conflict(
        f"Nothing was changed: memory {other.id} in bucket {bucket.id} says "
        f"{'the same' if how == 'exact' else 'nearly the same'} as memory {memory.id} would.",
        hint="Keep that one, and forget the other with forget_memories.",
    )
