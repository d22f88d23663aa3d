from api.mcp_server.tool import Answer, Arguments, Tool
from api.notes_server.tools.arguments import Path
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.notes.reading import get_note, note_view
from recall.notes.views import NoteView


class ReadNote(Arguments):
    path: Path


def _run(kernel: Kernel, principal: Principal, arguments: ReadNote) -> Answer:
    with kernel.store.read() as session:
        result = note_view(get_note(session, principal, arguments.path))
    return Answer(result.text, result)


TOOL = Tool(
    name="memory__read",
    title="Read a note",
    description="Read one note by its exact path: returns full frontmatter, markdown body, tags, "
    "and last-updated timestamp. Use a path from memory__search or memory__list, a prior write, "
    "or the user - do not guess one from a title.",
    scope=Scope.MEMORY_READ,
    arguments=ReadNote,
    result=NoteView,
    run=_run,
)
