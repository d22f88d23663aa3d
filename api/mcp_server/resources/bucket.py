"""`backread://bucket/{id}`: the memories of one bucket."""

from collections.abc import Mapping, Sequence

from api.mcp_server.resource import Listed, Page, ResourceKind, page_from
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.memories import bucket_number, list_buckets, memories_and_buckets
from recall.memories.results import plural_memories
from recall.rendering import clean, envelope, one_line

ADDRESS = "backread://bucket/{id}"


def _read(kernel: Kernel, principal: Principal, values: Mapping[str, str]) -> str:
    number = bucket_number(values["id"])
    found = memories_and_buckets(kernel, principal, bucket_id=number, every=True)
    # Not out of `found`, which lists no more buckets than fit into a result.
    every = list_buckets(kernel, principal).buckets
    (bucket,) = [each for each in every if each.bucket_id == number]
    shown, total = len(found.memories), found.memory_total
    lead = f"{shown} of {plural_memories(total)} of the bucket, newest first."
    if found.next:
        lead += (
            f" For the rest call get_memories_and_buckets with bucketId {bucket.bucket_id}, "
            f'all true and cursor "{found.next}".'
        )
    lines = "\n".join(each.line for each in found.memories)
    return envelope([f"# {clean(bucket.name)}", lines or "No memories."], before=lead)


def _list_page(kernel: Kernel, principal: Principal, after: str, limit: int) -> Page:
    return page_from(
        list_buckets(kernel, principal).buckets,
        after,
        limit,
        lambda bucket: Listed(
            uri=ADDRESS.format(id=bucket.bucket_id),
            name=f"bucket-{bucket.bucket_id}",
            title=one_line(bucket.name),
            description=plural_memories(bucket.memory_count),
        ),
    )


def suggest_buckets(kernel: Kernel, principal: Principal, typed: str) -> Sequence[str]:
    """Ids of the buckets whose id or name begins so."""
    wanted = typed.strip().casefold()
    return [
        str(each.bucket_id)
        for each in list_buckets(kernel, principal).buckets
        if str(each.bucket_id).startswith(wanted) or each.name.casefold().startswith(wanted)
    ]


def _suggest(
    kernel: Kernel, principal: Principal, variable: str, typed: str, known: Mapping[str, str]
) -> Sequence[str]:
    return suggest_buckets(kernel, principal, typed)


KIND = ResourceKind(
    name="bucket",
    title="Memory bucket",
    description="The memories of one bucket with their dates and sources, the superseded ones "
    "marked.",
    address=ADDRESS,
    scope=Scope.MEMORY_READ,
    read=_read,
    list_page=_list_page,
    suggest=_suggest,
)
