from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import HistoryReaderDep, KernelDep
from recall.search import MAX_RESULTS, SearchQuery, SearchResult, search

router = APIRouter(tags=["search"])


@router.get("/search", response_model_by_alias=False)
def get_search(
    kernel: KernelDep,
    principal: HistoryReaderDep,
    q: Annotated[str, Query(min_length=1, max_length=2000, description="What to look for.")],
    platform: Annotated[str, Query(max_length=32, description="Slug, such as chatgpt.")] = "",
    after: Annotated[str, Query(max_length=40, description="ISO 8601, inclusive.")] = "",
    before: Annotated[str, Query(max_length=40, description="ISO 8601, inclusive.")] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 20,
) -> SearchResult:
    """Passages by words and by meaning, best first, each with the address of its message."""
    query = SearchQuery(
        text=q,
        after=after or None,
        before=before or None,
        platform=platform or None,
        limit=limit,
    )
    return search(kernel, principal, query)
