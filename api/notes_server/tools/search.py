from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.notes_server.tools.arguments import Tags
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.notes.searching import DEFAULT_RESULTS, MAX_RESULTS, search_notes
from recall.notes.views import NoteResults


class SearchNotes(Arguments):
    query: str = Field(
        description="Literal text to match as one case-insensitive substring across titles, "
        "bodies, and tags. Search a single distinctive keyword, not a phrase."
    )
    folder: str = Field(
        "",
        description="Restrict to this POSIX folder (no leading slash), e.g. work/tasks. Matches "
        "that folder only, not others whose names begin alike. Omit for the whole memory.",
    )
    tags: Tags
    limit: int = Field(
        DEFAULT_RESULTS,
        ge=1,
        le=MAX_RESULTS,
        description="Max results in this page; capped at 50.",
    )
    cursor: str = Field(
        "",
        description="Opaque pagination token - pass the previous response's nextCursor verbatim. "
        "Omit for the first page.",
    )


def _run(kernel: Kernel, principal: Principal, arguments: SearchNotes) -> Answer:
    result = search_notes(
        kernel,
        principal,
        arguments.query,
        folder=arguments.folder,
        tags=arguments.tags,
        limit=arguments.limit,
        cursor=arguments.cursor,
    )
    return Answer(result.text, result)


TOOL = Tool(
    name="memory__search",
    title="Search notes",
    description="Find notes by literal text, ranked by match count. Matches the query as one "
    "case-insensitive substring across titles, bodies, and tags - not semantic, not tokenized - "
    "so search a single keyword, not a phrase. Returns path, snippet and score (the match count), "
    "never full bodies. To browse the folder tree instead, use memory__list.",
    scope=Scope.MEMORY_READ,
    arguments=SearchNotes,
    result=NoteResults,
    run=_run,
)
