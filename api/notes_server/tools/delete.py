from api.mcp_server.tool import Answer, Arguments, Tool
from api.notes_server.tools.arguments import Path
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.notes.views import DeletedNote
from recall.notes.writing import delete_note


class DeleteNote(Arguments):
    path: Path


def _run(kernel: Kernel, principal: Principal, arguments: DeleteNote) -> Answer:
    result = DeletedNote(path=delete_note(kernel, principal, arguments.path).path)
    return Answer(result.text, result)


TOOL = Tool(
    name="memory__delete",
    title="Delete a note",
    description="Soft-delete (forget) a note by path; it is kept in history and can be restored. "
    "Returns not-found if the path does not exist. To remove only part of a note, use "
    "memory__edit.",
    scope=Scope.MEMORY_WRITE,
    arguments=DeleteNote,
    result=DeletedNote,
    run=_run,
    is_read_only=False,
    is_idempotent=False,
    is_destructive=True,
)
