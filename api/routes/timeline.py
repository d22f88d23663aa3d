from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import HistoryReaderDep, KernelDep
from recall.timeline import MAX_RESULTS, Timeline, browse

router = APIRouter(tags=["search"])


@router.get("/timeline", response_model_by_alias=False)
def get_timeline(
    kernel: KernelDep,
    principal: HistoryReaderDep,
    after: Annotated[str, Query(max_length=40, description="ISO 8601, inclusive.")] = "",
    before: Annotated[str, Query(max_length=40, description="ISO 8601, inclusive.")] = "",
    platform: Annotated[str, Query(max_length=32, description="Slug, such as chatgpt.")] = "",
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 50,
) -> Timeline:
    """Every conversation between two times, in order, and how it begins there."""
    return browse(
        kernel,
        principal,
        after=after or None,
        before=before or None,
        platform=platform or None,
        offset=offset,
        limit=limit,
    )
