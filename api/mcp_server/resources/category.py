"""`backread://bucket/{id}/category/{category}`: the memories of one Smart Memory category."""

from collections.abc import Mapping, Sequence

from api.mcp_server.resource import ResourceKind
from api.mcp_server.resources.bucket import suggest_buckets
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.categories.reading import bucket_categories, category_memories
from recall.memories.results import plural_memories
from recall.rendering import clean, envelope


def _read(kernel: Kernel, principal: Principal, values: Mapping[str, str]) -> str:
    found = category_memories(kernel, principal, values["id"], values["category"])
    total = plural_memories(found.memory_count)
    lead = f"{len(found.memories)} of {total} of the category, newest first."
    if found.next:
        lead += (
            f" For the rest call list_category_memories with bucketId {found.bucket_id}, "
            f'categoryId {found.category_id} and cursor "{found.next}".'
        )
    heading = f"# {clean(found.bucket_name)}: {clean(found.name)}"
    lines = "\n".join(each.line for each in found.memories)
    return envelope([heading, lines], before=lead)


def _suggest(
    kernel: Kernel, principal: Principal, variable: str, typed: str, known: Mapping[str, str]
) -> Sequence[str]:
    """Ids of buckets; and once the bucket is known, of its categories, by id or name."""
    if variable == "id":
        return suggest_buckets(kernel, principal, typed)
    if not known.get("id"):
        return []
    wanted = typed.strip().casefold()
    return [
        each.category_id
        for each in bucket_categories(kernel, principal, known["id"]).categories
        if each.category_id.startswith(wanted) or wanted in each.name.casefold()
    ]


KIND = ResourceKind(
    name="category",
    title="Smart Memory category",
    description="The memories of one category of a bucket, newest first. list_bucket_categories "
    "shows the categories and their ids.",
    address="backread://bucket/{id}/category/{category}",
    scope=Scope.MEMORY_READ,
    read=_read,
    suggest=_suggest,
)
