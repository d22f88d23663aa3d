"""create_bucket: a new place for memories."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.memories import MadeBucket, create_bucket


class CreateArguments(Arguments):
    name: str = Field(description="Name for the new bucket: a topic, a project, an area of life.")


def _run(kernel: Kernel, principal: Principal, arguments: CreateArguments) -> Answer:
    result = create_bucket(kernel, principal, arguments.name)
    return Answer(result.text, result)


TOOL = Tool(
    name="create_bucket",
    title="Create a memory bucket",
    description=(
        "Create a bucket for memories. Call it when the user wants a new place for a topic, a "
        "project or an area of life; ask for a name if they gave none. If there is a bucket of "
        "this name, it is returned and nothing is created."
    ),
    scope=Scope.MEMORY_WRITE,
    arguments=CreateArguments,
    result=MadeBucket,
    run=_run,
    is_read_only=False,
)
