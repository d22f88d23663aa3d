"""update_or_move_memories: corrects a memory, or puts memories elsewhere."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from api.mcp_server.tool import Answer, Arguments, Tool, from_json_text
from api.mcp_server.tools.arguments import BucketNumber, Id
from backread.domain import Principal, Scope
from backread.errors import InvalidInput
from backread.kernel import Kernel
from recall.memories import MOST_AT_ONCE, ChangedMemories, edit_memory, move_memories


class ChangeArguments(Arguments):
    memory_id: Id | None = Field(None, description="Memory to edit: one memory at a time.")
    memory_ids: Annotated[list[Id] | None, BeforeValidator(from_json_text)] = Field(
        None,
        min_length=1,
        max_length=MOST_AT_ONCE,
        description=f"Memories to move, at most {MOST_AT_ONCE}, all or none. Not together with "
        "memoryId.",
    )
    text: str | None = Field(None, description="Replacement text. Only with memoryId.")
    bucket_id: BucketNumber = Field(None, description="Target bucket by its id.")
    bucket_name: str | None = Field(
        None, description="Target bucket by its name; created if there is none."
    )
    supersedes: Id | None = Field(
        None,
        description="Only with memoryId: id of an older memory that this one takes the place of.",
    )


def _run(kernel: Kernel, principal: Principal, arguments: ChangeArguments) -> Answer:
    if (arguments.memory_id is None) == (arguments.memory_ids is None):
        raise InvalidInput(
            "Give either `memoryId` or `memoryIds`, not both and not neither.",
            hint="Use memoryId to edit one memory, memoryIds to move several.",
        )
    name = arguments.bucket_name or ""
    if arguments.memory_id is not None:
        result = edit_memory(
            kernel,
            principal,
            arguments.memory_id,
            text=arguments.text,
            bucket_id=arguments.bucket_id,
            bucket_name=name,
            supersedes=arguments.supersedes or "",
        )
        return Answer(result.text, result)
    if arguments.text is not None or arguments.supersedes is not None:
        raise InvalidInput(
            "`text` and `supersedes` go with `memoryId` only.",
            hint="Edit memories one at a time, or leave `text` out to move them.",
        )
    assert arguments.memory_ids is not None
    result = move_memories(
        kernel,
        principal,
        arguments.memory_ids,
        bucket_id=arguments.bucket_id,
        bucket_name=name,
    )
    return Answer(result.text, result)


TOOL = Tool(
    name="update_or_move_memories",
    title="Edit or move memories",
    description=(
        "Edit the text or the bucket of one memory, or move up to 100 memories to another bucket. "
        "Call it when a saved fact was wrong, or when the user wants memories reorganised. When a "
        "fact was right and has changed, store the new one with supersedes instead, so that both "
        "stay with their dates. A bulk move is all or nothing: one unknown id and nothing moves."
    ),
    scope=Scope.MEMORY_WRITE,
    arguments=ChangeArguments,
    result=ChangedMemories,
    run=_run,
    is_read_only=False,
    is_destructive=True,
)
