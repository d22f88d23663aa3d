from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.notes_server.tools.arguments import Tags
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.notes.meaning import DEFAULT_RESULTS, MAX_RESULTS, similar_notes
from recall.notes.views import SimilarNotes


class SemanticSearch(Arguments):
    query: str = Field(description="A question or a phrase, in any words.")
    folder: str = Field(
        "", description="Restrict to this POSIX folder and what is below it. Omit for all notes."
    )
    tags: Tags
    limit: int = Field(
        DEFAULT_RESULTS, ge=1, le=MAX_RESULTS, description="Max results; capped at 50."
    )


def _run(kernel: Kernel, principal: Principal, arguments: SemanticSearch) -> Answer:
    result = similar_notes(
        kernel,
        principal,
        arguments.query,
        folder=arguments.folder,
        tags=arguments.tags,
        limit=arguments.limit,
    )
    return Answer(result.text, result)


TOOL = Tool(
    name="memory__semantic_search",
    title="Search notes by meaning",
    description="Find notes by meaning and words together, best first: use it when the words of "
    "the note are not known. Returns path, snippet and a relevance score, never full bodies. For "
    "one exact text use memory__search.",
    scope=Scope.MEMORY_READ,
    arguments=SemanticSearch,
    result=SimilarNotes,
    run=_run,
)
