"""create_memory: a new record in the folder."""

from pydantic import Field

from api.folder_server.tools.arguments import FolderArguments, Metadata, access_of, as_json
from api.mcp_server.tool import Answer, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.folders.records import MAX_CONTENT, create_record
from recall.folders.views import RecordOut


class CreateMemory(FolderArguments):
    name: str = Field(description="Name for the memory.")
    content: str = Field(description=f"Markdown content, up to {MAX_CONTENT} characters.")
    metadata: Metadata | None = Field(
        None,
        description="Key/value pairs for filtering: texts, numbers, true, false or null.",
    )
    vector_description: str | None = Field(
        None,
        description="Description used for embedding instead of raw content. Give one when the "
        "content is long or noisy.",
    )


def _run(kernel: Kernel, principal: Principal, arguments: CreateMemory) -> Answer:
    result = create_record(
        kernel,
        access_of(principal),
        arguments.name,
        arguments.content,
        metadata=arguments.metadata,
        vector_description=arguments.vector_description or "",
    )
    return Answer(as_json(result.model_dump(mode="json")), result)


TOOL = Tool(
    name="create_memory",
    title="Create a memory",
    description="Create a new memory in the folder: a Markdown text with a name and metadata. "
    "Each call makes another record; to change one use update_memory.",
    scope=Scope.MEMORY_WRITE,
    arguments=CreateMemory,
    result=RecordOut,
    run=_run,
    is_read_only=False,
    is_idempotent=False,
)
