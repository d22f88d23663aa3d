"""search_memories: what the person has asked to be remembered."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.arguments import BucketText
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.memories import (
    DEFAULT_RESULTS,
    MAX_RESULTS,
    MemorySearchResult,
    cut_to,
    search_memories,
)

_ALL_TOKENS = 12_000  # twenty very long memories would be more than a client takes


class SearchArguments(Arguments):
    query: str = Field(description="Search query, in the user's own words and language.")
    bucket_id: BucketText = Field(
        None, description="Limit the search to one bucket, an id from list_buckets."
    )
    limit: int = Field(
        DEFAULT_RESULTS,
        ge=1,
        le=MAX_RESULTS,
        description=f"Results to return. Default {DEFAULT_RESULTS}, max {MAX_RESULTS}.",
        json_schema_extra={"type": "number"},
    )
    as_of: str | None = Field(
        None,
        description="Only what was stored and held at this time, ISO 8601. A bare date means its "
        "end in UTC.",
    )


def _run(kernel: Kernel, principal: Principal, arguments: SearchArguments) -> Answer:
    result = search_memories(
        kernel,
        principal,
        arguments.query,
        bucket_id=arguments.bucket_id,
        limit=arguments.limit,
        as_of=arguments.as_of,
    )
    share = _ALL_TOKENS // max(1, len(result.memories))
    shown = [
        cut_to(memory, share, more="search with a smaller limit for more")
        for memory in result.memories
    ]
    result = result.model_copy(update={"memories": shown})
    return Answer(result.text, result)


TOOL = Tool(
    name="search_memories",
    title="Search memories",
    description=(
        "Search the user's saved memories by meaning and by words, most relevant first. The best "
        "first call when the user mentions something that they have told an AI before, or when "
        "you need a specific saved fact: a name, a preference, a decision. A fact that has changed "
        "comes with its former versions, the newest first; go by the newest and say so."
    ),
    scope=Scope.MEMORY_READ,
    arguments=SearchArguments,
    result=MemorySearchResult,
    run=_run,
)
