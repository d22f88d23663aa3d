"""list_bucket_categories: what a large bucket holds, at a glance."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.arguments import RequiredBucketText
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.categories.reading import bucket_categories
from recall.categories.results import BucketCategories


class CategoriesArguments(Arguments):
    bucket_id: RequiredBucketText = Field(
        description="Bucket to list categories for, an id from list_buckets."
    )


def _run(kernel: Kernel, principal: Principal, arguments: CategoriesArguments) -> Answer:
    result = bucket_categories(kernel, principal, arguments.bucket_id)
    return Answer(result.text, result)


TOOL = Tool(
    name="list_bucket_categories",
    title="List a bucket's categories",
    description=(
        "List the Smart Memory categories of a bucket: a summary of about 200 words each, what "
        "their full memories tell of, and the bucket's 30 most recent memories. Call it to get to "
        "know a large bucket without loading it: read the summaries first, then load only the "
        "category that matters with list_category_memories."
    ),
    scope=Scope.MEMORY_READ,
    arguments=CategoriesArguments,
    result=BucketCategories,
    run=_run,
)
