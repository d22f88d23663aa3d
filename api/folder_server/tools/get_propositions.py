"""get_propositions: the facts that one record states."""

from pydantic import Field

from api.folder_server.tools.arguments import FolderArguments, RecordId, access_of, as_json
from api.mcp_server.tool import Answer, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.folders.reading import get_propositions
from recall.folders.views import PropositionList


class GetPropositions(FolderArguments):
    record_id: RecordId = Field(alias="recordId", description="Memory ID.")


def _run(kernel: Kernel, principal: Principal, arguments: GetPropositions) -> Answer:
    result = get_propositions(kernel, access_of(principal), arguments.record_id)
    return Answer(as_json([each.text for each in result.propositions]), result)


TOOL = Tool(
    name="get_propositions",
    title="Get facts of a memory",
    description="Return the extracted facts (propositions) for a specific memory: an array of "
    "atomic statements, each understandable alone.",
    scope=Scope.MEMORY_READ,
    arguments=GetPropositions,
    result=PropositionList,
    run=_run,
)
