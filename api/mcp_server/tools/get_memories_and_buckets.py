"""get_memories_and_buckets: what a conversation starts with."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.arguments import BucketNumber
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.memories import DEFAULT_COUNT, MemoriesAndBuckets, memories_and_buckets


class ListArguments(Arguments):
    bucket_id: BucketNumber = Field(
        None, description="Only memories of this bucket, an id from list_buckets."
    )
    count: int = Field(
        DEFAULT_COUNT,
        ge=1,
        description=f"Number of memories to return, newest first. Default {DEFAULT_COUNT}.",
        json_schema_extra={"type": "number"},
    )
    all: bool | None = Field(
        None,
        description="Return every memory, those that were superseded too. When they are more than "
        "a result can hold they come in pages; each page gives the cursor of the next.",
    )
    query: str | None = Field(
        None, description="Optional search query; then the best matches come first."
    )
    cursor: str | None = Field(
        None, max_length=64, description="Goes on after a page: the `next` that it gave."
    )


def _run(kernel: Kernel, principal: Principal, arguments: ListArguments) -> Answer:
    result = memories_and_buckets(
        kernel,
        principal,
        bucket_id=arguments.bucket_id,
        count=arguments.count,
        every=bool(arguments.all),
        query=arguments.query or "",
        cursor=arguments.cursor or "",
    )
    return Answer(result.text, result)


TOOL = Tool(
    name="get_memories_and_buckets",
    title="Load memories and buckets",
    description=(
        "Get the user's newest memories and all their buckets in one call. Call it at the start "
        "of a conversation to know whom you are talking with, or when you need memories and the "
        "bucket structure at once. For one specific fact search_memories is better."
    ),
    scope=Scope.MEMORY_READ,
    arguments=ListArguments,
    result=MemoriesAndBuckets,
    run=_run,
)
