"""undo_forget: brings back what was deleted."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.arguments import Id
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.memories import RestoredMemories, undo_forget


class UndoArguments(Arguments):
    undo_id: Id = Field(description="The undoId that forget_memories or delete_bucket gave.")


def _run(kernel: Kernel, principal: Principal, arguments: UndoArguments) -> Answer:
    result = undo_forget(kernel, principal, arguments.undo_id)
    return Answer(result.text, result)


TOOL = Tool(
    name="undo_forget",
    title="Bring deleted memories back",
    description=(
        "Bring back the memories, or the bucket, that one call of forget_memories or "
        "delete_bucket deleted, with their ids and dates. Call it when the user changes their "
        "mind. After the time to undo it is too late."
    ),
    scope=Scope.MEMORY_WRITE,
    arguments=UndoArguments,
    result=RestoredMemories,
    run=_run,
    is_read_only=False,
    is_offered=lambda settings: settings.forget_tools,
)
