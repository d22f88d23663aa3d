"""query_memories: records by exact name and metadata."""

from pydantic import Field

from api.folder_server.tools.arguments import (
    Conditions,
    Cursor,
    FolderArguments,
    access_of,
    as_json,
    pairs,
)
from api.mcp_server.tool import Answer, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.folders.reading import query_records
from recall.folders.views import RecordPage


class QueryMemories(FolderArguments):
    name: str | None = Field(None, description="Filter by exact name match.")
    metadata: Conditions = Field(default_factory=list)
    cursor: Cursor = ""


def _run(kernel: Kernel, principal: Principal, arguments: QueryMemories) -> Answer:
    result = query_records(
        kernel,
        access_of(principal),
        name=arguments.name,
        conditions=pairs(arguments.metadata),
        cursor=arguments.cursor,
    )
    return Answer(as_json(result.model_dump(mode="json")), result)


TOOL = Tool(
    name="query_memories",
    title="Query memories",
    description="Filter memories by metadata, and by exact name. All conditions must hold. "
    "Without conditions it pages through everything; list_records is cheaper for that.",
    scope=Scope.MEMORY_READ,
    arguments=QueryMemories,
    result=RecordPage,
    run=_run,
)
