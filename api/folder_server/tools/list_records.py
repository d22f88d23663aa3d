"""list_records: all records without their contents."""

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
from recall.folders.reading import list_records
from recall.folders.views import RecordList


class ListRecords(FolderArguments):
    metadata: Conditions = Field(default_factory=list)
    cursor: Cursor = ""


def _run(kernel: Kernel, principal: Principal, arguments: ListRecords) -> Answer:
    result = list_records(
        kernel,
        access_of(principal),
        conditions=pairs(arguments.metadata),
        cursor=arguments.cursor,
    )
    text = as_json(result.model_dump(mode="json")["records"])
    if result.next_cursor:
        text += f"\n({result.total} in all; for more call again with cursor={result.next_cursor})"
    return Answer(text, result)


TOOL = Tool(
    name="list_records",
    title="List records",
    description="Return a lightweight list of all memories in the folder, with optional metadata "
    "filtering: [{id, name, created_at}], without content, for fast enumeration. A thousand at a "
    "time; next_cursor leads on.",
    scope=Scope.MEMORY_READ,
    arguments=ListRecords,
    result=RecordList,
    run=_run,
)
