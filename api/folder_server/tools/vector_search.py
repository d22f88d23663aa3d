"""vector_search: parts of records by meaning."""

from pydantic import Field

from api.folder_server.tools.arguments import FolderArguments, access_of, as_json
from api.mcp_server.tool import Answer, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.folders.calibration import THRESHOLD
from recall.folders.searching import DEFAULT_RESULTS, MAX_RESULTS, vector_search
from recall.folders.views import SearchResult


class VectorSearch(FolderArguments):
    query: str = Field(description="Natural language search query.")
    limit: int = Field(
        DEFAULT_RESULTS,
        ge=1,
        le=MAX_RESULTS,
        description=f"Max results to return (1-{MAX_RESULTS}, default {DEFAULT_RESULTS}).",
        json_schema_extra={"type": "number"},
    )
    similarity_threshold: float = Field(
        THRESHOLD,
        ge=0,
        le=1,
        description=f"Minimum match score (0.0-1.0, default {THRESHOLD}). At the default, results "
        "are about the query; lower it to see loosely related ones.",
    )


def _run(kernel: Kernel, principal: Principal, arguments: VectorSearch) -> Answer:
    result = vector_search(
        kernel,
        access_of(principal),
        arguments.query,
        limit=arguments.limit,
        similarity_threshold=arguments.similarity_threshold,
    )
    return Answer(as_json(result.model_dump(mode="json")), result)


TOOL = Tool(
    name="vector_search",
    title="Search by meaning",
    description="Semantic search across the folder's indexed content. Returns matching chunks "
    "with their record and a similarity score. An empty result means that nothing in the folder "
    "is about the query, unless `waiting` says that some content is not indexed yet.",
    scope=Scope.MEMORY_READ,
    arguments=VectorSearch,
    result=SearchResult,
    run=_run,
)
