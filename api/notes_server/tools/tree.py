from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.notes_server.tools.arguments import Tags
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.notes.tree import MAX_DEPTH, list_tree
from recall.notes.views import NoteTree


class ListNotes(Arguments):
    folder: str = Field(
        "",
        description="Folder to browse (POSIX, no leading slash), e.g. work/tasks. Matches that "
        "folder only. Omit for the memory root.",
    )
    depth: int = Field(
        MAX_DEPTH,
        ge=1,
        le=MAX_DEPTH,
        description="1 = direct children of the folder only; 2 = also expand each subfolder one "
        "more level.",
    )
    tags: Tags


def _run(kernel: Kernel, principal: Principal, arguments: ListNotes) -> Answer:
    result = list_tree(
        kernel, principal, folder=arguments.folder, depth=arguments.depth, tags=arguments.tags
    )
    return Answer(result.text, result)


TOOL = Tool(
    name="memory__list",
    title="Browse notes",
    description="Browse the notes as a folder tree: files and subfolders under a folder, two "
    "levels deep by default, with per-folder file counts. No bodies, no ranking. Folders over the "
    "per-folder entry limit of 100 are flagged truncated and not expanded - call memory__list "
    "again with that folder to see inside.",
    scope=Scope.MEMORY_READ,
    arguments=ListNotes,
    result=NoteTree,
    run=_run,
)
