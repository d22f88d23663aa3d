"""The tools in the order that `tools/list` gives them. One module each; to add a tool, write its
module and name it here."""

from api.mcp_server.tool import Tool
from api.mcp_server.tools import (
    get_conversation_summary,
    get_full_conversation,
    list_buckets,
    recall_chat_history,
    search_memories,
    store_memory,
)

TOOLS: tuple[Tool, ...] = (
    recall_chat_history.TOOL,
    get_conversation_summary.TOOL,
    get_full_conversation.TOOL,
    search_memories.TOOL,
    store_memory.TOOL,
    list_buckets.TOOL,
)
