from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.deps import CsrfDep, KernelDep, MemoryReaderDep, MemoryWriterDep, ReadDep
from api.schemas.memories import (
    BucketIn,
    ForgettingList,
    MemoryChange,
    MemoryIds,
    MemoryIn,
    MemoryMove,
    forgetting_out,
)
from backread.store.repositories.forgettings import list_forgettings
from recall.memories import (
    DEFAULT_COUNT,
    DEFAULT_RESULTS,
    MAX_QUERY_CHARACTERS,
    MAX_RESULTS,
    BucketList,
    ChangedMemories,
    ForgottenMemories,
    MadeBucket,
    MemoriesAndBuckets,
    MemorySearchResult,
    RestoredMemories,
    Source,
    StoredMemory,
    create_bucket,
    delete_bucket,
    edit_memory,
    forget_memories,
    list_buckets,
    memories_and_buckets,
    move_memories,
    search_memories,
    store_memory,
    undo_forget,
)

router = APIRouter(tags=["memories"])

_Id = Annotated[str, Path(max_length=64)]
_MOST_LISTED = 200


@router.get("/memories", response_model_by_alias=False)
def get_memories(
    kernel: KernelDep,
    principal: MemoryReaderDep,
    bucket_id: Annotated[int | None, Query(ge=1)] = None,
    count: Annotated[int, Query(ge=1, le=_MOST_LISTED)] = DEFAULT_COUNT,
    every: Annotated[
        bool, Query(alias="all", description="Superseded ones, too, and page after page.")
    ] = False,
    cursor: Annotated[str, Query(max_length=64, description="`next` of a page.")] = "",
) -> MemoriesAndBuckets:
    """Memories, newest first, and all buckets."""
    return memories_and_buckets(
        kernel, principal, bucket_id=bucket_id, count=count, every=every, cursor=cursor
    )


@router.get("/memories/search", response_model_by_alias=False)
def get_memory_search(
    kernel: KernelDep,
    principal: MemoryReaderDep,
    q: Annotated[str, Query(min_length=1, max_length=MAX_QUERY_CHARACTERS)],
    bucket_id: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = DEFAULT_RESULTS,
    as_of: Annotated[str, Query(max_length=40, description="ISO 8601: what held then.")] = "",
) -> MemorySearchResult:
    """Memories by words and by meaning, best first."""
    return search_memories(
        kernel, principal, q, bucket_id=bucket_id, limit=limit, as_of=as_of or None
    )


@router.get("/memories/forgotten")
def get_forgotten(session: ReadDep, principal: MemoryReaderDep) -> ForgettingList:
    """Deletions that can still be undone, newest first."""
    rows = list_forgettings(session, principal.account_id, limit=_MOST_LISTED)
    return ForgettingList(items=[forgetting_out(row) for row in rows])


@router.post("/memories", response_model_by_alias=False, dependencies=[CsrfDep])
def post_memory(kernel: KernelDep, principal: MemoryWriterDep, wanted: MemoryIn) -> StoredMemory:
    """Keeps a memory. One that is there already is not doubled."""
    return store_memory(
        kernel,
        principal,
        wanted.text,
        bucket_id=wanted.bucket_id,
        supersedes=wanted.supersedes or "",
        source=Source(wanted.conversation_id or "", wanted.message_id or ""),
    )


@router.patch("/memories/{memory_id}", response_model_by_alias=False, dependencies=[CsrfDep])
def patch_memory(
    kernel: KernelDep, principal: MemoryWriterDep, memory_id: _Id, wanted: MemoryChange
) -> ChangedMemories:
    """Gives a memory another text, another bucket, or both."""
    return edit_memory(
        kernel,
        principal,
        memory_id,
        text=wanted.text,
        bucket_id=wanted.bucket_id,
        bucket_name=wanted.bucket_name,
        supersedes=wanted.supersedes or "",
    )


@router.post("/memories/move", response_model_by_alias=False, dependencies=[CsrfDep])
def post_move(kernel: KernelDep, principal: MemoryWriterDep, wanted: MemoryMove) -> ChangedMemories:
    """Moves memories to a bucket, all or none."""
    return move_memories(
        kernel,
        principal,
        wanted.ids,
        bucket_id=wanted.bucket_id,
        bucket_name=wanted.bucket_name,
    )


@router.post("/memories/forget", response_model_by_alias=False, dependencies=[CsrfDep])
def post_forget(
    kernel: KernelDep, principal: MemoryWriterDep, wanted: MemoryIds
) -> ForgottenMemories:
    """Deletes memories, all or none. `undo_id` brings them back for a while."""
    return forget_memories(kernel, principal, wanted.ids)


@router.post(
    "/memories/forgotten/{undo_id}/undo", response_model_by_alias=False, dependencies=[CsrfDep]
)
def post_undo(kernel: KernelDep, principal: MemoryWriterDep, undo_id: _Id) -> RestoredMemories:
    """Brings back what one deletion took away."""
    return undo_forget(kernel, principal, undo_id)


@router.get("/buckets", response_model_by_alias=False)
def get_buckets(kernel: KernelDep, principal: MemoryReaderDep) -> BucketList:
    """All buckets with the number of their memories."""
    return list_buckets(kernel, principal)


@router.post("/buckets", response_model_by_alias=False, dependencies=[CsrfDep])
def post_bucket(kernel: KernelDep, principal: MemoryWriterDep, wanted: BucketIn) -> MadeBucket:
    """A bucket by its name: a new one, or the one that is there."""
    return create_bucket(kernel, principal, wanted.name)


@router.delete("/buckets/{bucket_id}", response_model_by_alias=False, dependencies=[CsrfDep])
def delete_one_bucket(
    kernel: KernelDep, principal: MemoryWriterDep, bucket_id: Annotated[int, Path(ge=1)]
) -> ForgottenMemories:
    """Deletes a bucket with its memories. `undo_id` brings them back for a while."""
    return delete_bucket(kernel, principal, bucket_id)
