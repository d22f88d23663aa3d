from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.notes_server.tools.arguments import Frontmatter, Path
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.store.models import Note
from recall.notes.views import SavedNote, moment
from recall.notes.writing import write_note


class WriteNote(Arguments):
    path: Path
    body: str = Field(
        description="The complete Markdown body, excluding frontmatter (no --- fences). "
        "Overwrites the entire existing body."
    )
    frontmatter: Frontmatter | None = Field(
        None,
        description="YAML metadata as a key -> value map (no --- fences). write replaces the "
        "whole map.",
    )


def saved(note: Note) -> Answer:
    result = SavedNote(path=note.path, updated=moment(note.updated_at))
    return Answer(result.text, result)


def _run(kernel: Kernel, principal: Principal, arguments: WriteNote) -> Answer:
    return saved(
        write_note(kernel, principal, arguments.path, arguments.body, arguments.frontmatter)
    )


TOOL = Tool(
    name="memory__write",
    title="Write a note",
    description="This is the user's persistent memory - save durable facts, notes, preferences, "
    "and decisions here. Creates a new note or fully overwrites the one at path, replacing the "
    "entire body and frontmatter. To change only part of an existing note, use memory__edit. "
    "Every version is kept.",
    scope=Scope.MEMORY_WRITE,
    arguments=WriteNote,
    result=SavedNote,
    run=_run,
    is_read_only=False,
)
