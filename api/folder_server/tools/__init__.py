"""The tools in the order that `tools/list` gives them. One module each; to add a tool, write its
module and name it here."""

from api.folder_server.tools import (
    create_memory,
    find_memory,
    get_propositions,
    list_records,
    query_memories,
    update_memory,
    vector_search,
)
from api.mcp_server.tool import Tool

TOOLS: tuple[Tool, ...] = (
    create_memory.TOOL,
    update_memory.TOOL,
    find_memory.TOOL,
    query_memories.TOOL,
    vector_search.TOOL,
    get_propositions.TOOL,
    list_records.TOOL,
)
