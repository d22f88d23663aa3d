"""The tools in the order that `tools/list` gives them. One module each; to add a tool, write its
module and name it here."""

from api.mcp_server.tool import Tool
from api.notes_server.tools import delete, edit, read, search, semantic_search, tree, write
from backread.settings import Settings

CONTRACT_TOOLS: tuple[Tool, ...] = (
    search.TOOL,
    read.TOOL,
    tree.TOOL,
    write.TOOL,
    edit.TOOL,
    delete.TOOL,
)
# Beyond the contract, so each needs a setting that asks for it.
FURTHER_TOOLS: tuple[Tool, ...] = (semantic_search.TOOL,)


def tools_of(settings: Settings) -> tuple[Tool, ...]:
    """What this server offers."""
    return CONTRACT_TOOLS + (FURTHER_TOOLS if settings.notes_semantic_search else ())
