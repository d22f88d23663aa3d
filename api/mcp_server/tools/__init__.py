"""The tools in the order that `tools/list` gives them. One module each; to add a tool, write its
module and name it here. A tool of the contract then has to pass the tests of its row in
`tests/api/mcp_server/contract/table.py`, and every tool needs its section in `docs/tools.md`."""

from api.mcp_server.tool import Tool
from api.mcp_server.tools import (
    chat_history_overview,
    create_bucket,
    delete_bucket,
    export_conversation,
    fetch,
    forget_memories,
    get_conversation_summary,
    get_full_conversation,
    get_memories_and_buckets,
    list_bucket_categories,
    list_buckets,
    list_category_memories,
    memory_team_feed,
    memory_team_share,
    recall_chat_history,
    search,
    search_memories,
    search_uploaded_files,
    store_memory,
    undo_forget,
    update_or_move_memories,
)

TOOLS: tuple[Tool, ...] = (
    recall_chat_history.TOOL,
    get_conversation_summary.TOOL,
    get_full_conversation.TOOL,
    export_conversation.TOOL,
    chat_history_overview.TOOL,
    search_memories.TOOL,
    get_memories_and_buckets.TOOL,
    store_memory.TOOL,
    update_or_move_memories.TOOL,
    list_buckets.TOOL,
    create_bucket.TOOL,
    list_bucket_categories.TOOL,
    list_category_memories.TOOL,
    forget_memories.TOOL,
    delete_bucket.TOOL,
    undo_forget.TOOL,
    search_uploaded_files.TOOL,
    search.TOOL,
    fetch.TOOL,
    memory_team_share.TOOL,
    memory_team_feed.TOOL,
)
