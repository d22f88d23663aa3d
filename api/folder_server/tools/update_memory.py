"""update_memory: changes a record; the former version stays in its history."""

from typing import Literal

from pydantic import Field

from api.folder_server.tools.arguments import (
    FolderArguments,
    Metadata,
    RecordId,
    access_of,
    as_json,
)
from api.mcp_server.tool import Answer, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.folders.records import update_record
from recall.folders.views import RecordOut


class UpdateMemory(FolderArguments):
    record_id: RecordId = Field(alias="recordId", description="ID of the memory to update.")
    content: str | None = Field(None, description="New content.")
    metadata: Metadata | None = Field(
        None,
        description="Updated metadata. The keys that are given are set; others stay.",
    )
    operation: Literal["replace", "append"] = Field(
        "replace",
        description="What to do with content: replace (default) overwrites, append adds it to "
        "the end.",
    )
    vector_description: str | None = Field(
        None, description="Updated embedding description; empty to embed the content again."
    )


def _run(kernel: Kernel, principal: Principal, arguments: UpdateMemory) -> Answer:
    result = update_record(
        kernel,
        access_of(principal),
        arguments.record_id,
        content=arguments.content,
        metadata=arguments.metadata,
        operation=arguments.operation,
        vector_description=arguments.vector_description,
    )
    return Answer(as_json(result.model_dump(mode="json")), result)


TOOL = Tool(
    name="update_memory",
    title="Update a memory",
    description="Update an existing memory. Use operation append to add to its content without "
    "overwriting it, for example to accumulate notes over time. Former versions are kept.",
    scope=Scope.MEMORY_WRITE,
    arguments=UpdateMemory,
    result=RecordOut,
    run=_run,
    is_read_only=False,
    is_idempotent=False,
    is_destructive=True,
)
