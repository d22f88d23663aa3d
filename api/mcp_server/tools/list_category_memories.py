"""list_category_memories: the full memories of one category."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.arguments import Id, RequiredBucketText
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.categories.reading import category_memories
from recall.categories.results import CategoryMemories


class CategoryArguments(Arguments):
    bucket_id: RequiredBucketText = Field(
        description="Bucket containing the category, an id from list_buckets."
    )
    category_id: Id = Field(
        description="Category to load, a categoryId from list_bucket_categories."
    )
    limit: int | None = Field(
        None,
        ge=1,
        description="Cap the number of memories returned, newest first. Without it all come, in "
        "pages when they are more than a result can hold.",
        json_schema_extra={"type": "number"},
    )
    cursor: str | None = Field(
        None, max_length=64, description="Goes on after a page: the `next` that it gave."
    )


def _run(kernel: Kernel, principal: Principal, arguments: CategoryArguments) -> Answer:
    result = category_memories(
        kernel,
        principal,
        arguments.bucket_id,
        arguments.category_id,
        limit=arguments.limit,
        cursor=arguments.cursor or "",
    )
    return Answer(result.text, result)


TOOL = Tool(
    name="list_category_memories",
    title="Read a category's memories",
    description=(
        "Get the full memories inside one Smart Memory category. Call it after "
        "list_bucket_categories when a category matters for the current conversation."
    ),
    scope=Scope.MEMORY_READ,
    arguments=CategoryArguments,
    result=CategoryMemories,
    run=_run,
)
