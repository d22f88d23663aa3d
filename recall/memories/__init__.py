"""Memories: statements that a person or a client chose to keep, in buckets.

Each tool of the contract is one public function here. Everything below works inside one account,
that of the principal.
"""

from recall.memories.buckets import (
    MAX_BUCKET_NAME,
    bucket_number,
    bucket_views,
    create_bucket,
    find_bucket,
    list_buckets,
)
from recall.memories.changing import MOST_AT_ONCE, edit_memory, move_memories
from recall.memories.finding import (
    DEFAULT_RESULTS,
    MAX_QUERY_CHARACTERS,
    MAX_RESULTS,
    search_memories,
)
from recall.memories.forgetting import (
    delete_bucket,
    forget_memories,
    purge_forgotten,
    purge_now,
    undo_forget,
)
from recall.memories.indexing import index_memories, memory_point
from recall.memories.keeping import (
    MAX_CHARACTERS,
    Source,
    checked_text,
    keep_memories,
    store_memory,
)
from recall.memories.listing import (
    DEFAULT_COUNT,
    buckets_within,
    current_memories,
    former_versions,
    memories_and_buckets,
)
from recall.memories.results import (
    BucketList,
    BucketView,
    ChangedMemories,
    ForgottenMemories,
    FoundMemory,
    MadeBucket,
    MemoriesAndBuckets,
    MemorySearchResult,
    RestoredMemories,
    ShownMemory,
    StoredMemory,
)
from recall.memories.showing import cut_to, shown

__all__ = [
    "DEFAULT_COUNT",
    "DEFAULT_RESULTS",
    "MAX_BUCKET_NAME",
    "MAX_CHARACTERS",
    "MAX_QUERY_CHARACTERS",
    "MAX_RESULTS",
    "MOST_AT_ONCE",
    "BucketList",
    "BucketView",
    "ChangedMemories",
    "ForgottenMemories",
    "FoundMemory",
    "MadeBucket",
    "MemoriesAndBuckets",
    "MemorySearchResult",
    "RestoredMemories",
    "ShownMemory",
    "Source",
    "StoredMemory",
    "bucket_number",
    "bucket_views",
    "buckets_within",
    "checked_text",
    "create_bucket",
    "current_memories",
    "cut_to",
    "delete_bucket",
    "edit_memory",
    "find_bucket",
    "forget_memories",
    "former_versions",
    "index_memories",
    "keep_memories",
    "list_buckets",
    "memories_and_buckets",
    "memory_point",
    "move_memories",
    "purge_forgotten",
    "purge_now",
    "search_memories",
    "shown",
    "store_memory",
    "undo_forget",
]
