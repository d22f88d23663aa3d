"""delete_bucket: deletes a bucket with its memories, with a time to undo it."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.arguments import RequiredBucketNumber
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.memories import ForgottenMemories, delete_bucket


class DeleteArguments(Arguments):
    bucket_id: RequiredBucketNumber = Field(
        description="Bucket to delete with all its memories, an id from list_buckets."
    )


def _run(kernel: Kernel, principal: Principal, arguments: DeleteArguments) -> Answer:
    result = delete_bucket(kernel, principal, arguments.bucket_id)
    return Answer(result.text, result)


TOOL = Tool(
    name="delete_bucket",
    title="Delete a memory bucket",
    description=(
        "Delete a bucket with all the memories in it. Call it only when the user asks for that, "
        "after telling them how many memories it holds; move what should stay first. The result "
        "has an undoId; undo_forget brings everything back while the time to undo lasts. The "
        "default bucket cannot be deleted."
    ),
    scope=Scope.MEMORY_WRITE,
    arguments=DeleteArguments,
    result=ForgottenMemories,
    run=_run,
    is_read_only=False,
    is_destructive=True,
    is_offered=lambda settings: settings.forget_tools,
)
