"""What a model reads when a tool could not do its work."""

from mcp_types import CallToolResult, TextContent

from backread.errors import BackreadError


def tool_error(error: BackreadError) -> CallToolResult:
    """What happened, and what to do."""
    return failed_tool(str(error))


def failed_tool(text: str) -> CallToolResult:
    """A tool result marked as an error (MCP tools, "Error handling"): the model sees it and can
    correct its call, which it could not with a protocol error."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
