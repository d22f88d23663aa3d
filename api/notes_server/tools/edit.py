from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.notes_server.tools.arguments import Frontmatter, Path
from api.notes_server.tools.write import saved
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.notes.views import SavedNote
from recall.notes.writing import Mode, edit_note


class EditNote(Arguments):
    path: Path
    body: str | None = Field(
        None,
        description="New body (mode=replace) or appended text (mode=append). Not used with "
        "str_replace; omit to change only frontmatter.",
    )
    frontmatter: Frontmatter | None = Field(
        None,
        description="YAML key -> value map (no --- fences). Shallow-merges top-level keys.",
    )
    mode: Mode = Field(
        "replace",
        description="How to apply body: str_replace swaps old_str for new_str in place; append "
        "adds to the end; replace overwrites the whole body.",
    )
    old_str: str | None = Field(
        None,
        alias="old_str",
        description="Exact existing body text to replace - must match verbatim (including "
        "whitespace) and appear exactly once.",
    )
    new_str: str | None = Field(
        None,
        alias="new_str",
        description="The replacement text. Omit to delete old_str.",
    )


def _run(kernel: Kernel, principal: Principal, arguments: EditNote) -> Answer:
    return saved(
        edit_note(
            kernel,
            principal,
            arguments.path,
            body=arguments.body,
            values=arguments.frontmatter,
            mode=arguments.mode,
            old=arguments.old_str,
            new=arguments.new_str,
        )
    )


TOOL = Tool(
    name="memory__edit",
    title="Edit a note",
    description="Amend an existing note in place. mode=str_replace swaps one exact text match "
    "without resending the note; append adds to the end; replace overwrites the whole body; "
    "frontmatter always shallow-merges, so a key cannot be removed. Fails not-found if the path "
    "does not exist - use memory__write to create.",
    scope=Scope.MEMORY_WRITE,
    arguments=EditNote,
    result=SavedNote,
    run=_run,
    is_read_only=False,
    is_idempotent=False,
)
