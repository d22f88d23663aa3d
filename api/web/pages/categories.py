"""Smart Memory: the categories of a bucket, and the memories of one."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from api.deps import KernelDep, SignedInDep
from api.web.templating import render
from recall.categories.reading import bucket_categories, category_memories
from recall.memories import list_buckets

_PAGE_TOKENS = 6_000  # about a hundred memories of one or two sentences

router = APIRouter(include_in_schema=False)

_BucketId = Annotated[int, Path(ge=1, lt=2**63)]


@router.get("/memories/buckets/{bucket_id}/categories")
def categories_page(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, bucket_id: _BucketId
) -> Response:
    principal = signed_in.principal
    context = {
        "signed_in": signed_in,
        "listed": bucket_categories(kernel, principal, bucket_id),
        "buckets": list_buckets(kernel, principal).buckets,
    }
    return render(request, "categories.html", context)


@router.get("/memories/buckets/{bucket_id}/categories/{category_id}")
def category_page(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    bucket_id: _BucketId,
    category_id: Annotated[str, Path(max_length=64)],
    after: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    principal = signed_in.principal
    page = category_memories(
        kernel, principal, bucket_id, category_id, cursor=after, page_tokens=_PAGE_TOKENS
    )
    listed = bucket_categories(kernel, principal, bucket_id)
    view = next((each for each in listed.categories if each.category_id == page.category_id), None)
    context = {"signed_in": signed_in, "page": page, "view": view, "listed": listed, "after": after}
    return render(request, "category.html", context)
