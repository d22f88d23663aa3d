"""forget_memories: deletes memories, with a time to undo it."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from api.mcp_server.tool import Answer, Arguments, Tool, from_json_text
from api.mcp_server.tools.arguments import Id
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.memories import MOST_AT_ONCE, ForgottenMemories, forget_memories


class ForgetArguments(Arguments):
    memory_ids: Annotated[list[Id], BeforeValidator(from_json_text)] = Field(
        min_length=1,
        max_length=MOST_AT_ONCE,
        description=f"Memories to delete, at most {MOST_AT_ONCE}, all or none.",
    )


def _run(kernel: Kernel, principal: Principal, arguments: ForgetArguments) -> Answer:
    result = forget_memories(kernel, principal, arguments.memory_ids)
    return Answer(result.text, result)


TOOL = Tool(
    name="forget_memories",
    title="Delete memories",
    description=(
        "Delete memories by their ids. Call it only when the user asks to forget something, and "
        "say which memories went. The result has an undoId; undo_forget brings them back while "
        "the time to undo lasts. When a fact has merely changed, store the new one with "
        "supersedes instead."
    ),
    scope=Scope.MEMORY_WRITE,
    arguments=ForgetArguments,
    result=ForgottenMemories,
    run=_run,
    is_read_only=False,
    is_destructive=True,
    is_offered=lambda settings: settings.forget_tools,
)
