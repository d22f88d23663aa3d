"""find_memory: one record, by id or exact name."""

from pydantic import Field

from api.folder_server.tools.arguments import FolderArguments, RecordId, access_of, as_json
from api.mcp_server.tool import Answer, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.folders.reading import find_record
from recall.folders.views import RecordOut


class FindMemory(FolderArguments):
    record_id: RecordId | None = Field(None, alias="recordId", description="Memory ID.")
    name: str | None = Field(None, description="Exact memory name.")


class FoundRecord(RecordOut):
    """One record, whole."""

    same_name: int = Field(description="How many further records have this name.")


def _run(kernel: Kernel, principal: Principal, arguments: FindMemory) -> Answer:
    record, others = find_record(
        kernel, access_of(principal), record_id=arguments.record_id, name=arguments.name
    )
    result = FoundRecord(**record.model_dump(), same_name=others)
    return Answer(as_json(result.model_dump(mode="json")), result)


TOOL = Tool(
    name="find_memory",
    title="Find a memory",
    description="Retrieve a specific memory by ID or by its exact name. Give one of the two. Of "
    "several memories with one name, the one written last; query_memories has all.",
    scope=Scope.MEMORY_READ,
    arguments=FindMemory,
    result=FoundRecord,
    run=_run,
)
