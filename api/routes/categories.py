from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.deps import KernelDep, MemoryReaderDep
from recall.categories.reading import MOST_LISTED, bucket_categories, category_memories
from recall.categories.results import BucketCategories, CategoryMemories

router = APIRouter(tags=["memories"])

_BucketId = Annotated[int, Path(ge=1, lt=2**63)]


@router.get("/buckets/{bucket_id}/categories", response_model_by_alias=False)
def get_categories(
    kernel: KernelDep, principal: MemoryReaderDep, bucket_id: _BucketId
) -> BucketCategories:
    """The Smart Memory categories of a bucket with their summaries, largest first, and the
    bucket's newest memories."""
    return bucket_categories(kernel, principal, bucket_id)


@router.get("/buckets/{bucket_id}/categories/{category_id}", response_model_by_alias=False)
def get_category(
    kernel: KernelDep,
    principal: MemoryReaderDep,
    bucket_id: _BucketId,
    category_id: Annotated[str, Path(max_length=64)],
    limit: Annotated[int | None, Query(ge=1, le=MOST_LISTED)] = None,
    cursor: Annotated[str, Query(max_length=64, description="`next` of a page.")] = "",
) -> CategoryMemories:
    """The full memories of a category, newest first, page after page."""
    return category_memories(kernel, principal, bucket_id, category_id, limit=limit, cursor=cursor)
