"""export_conversation: a whole conversation as a file to fetch."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.exporting import ConversationExport, export_conversation


class ExportArguments(Arguments):
    conversation_id: str = Field(
        min_length=1, description="conversationId from the sources of recall_chat_history."
    )


def _run(kernel: Kernel, principal: Principal, arguments: ExportArguments) -> Answer:
    result = export_conversation(kernel, principal, arguments.conversation_id.strip())
    return Answer(result.text, result)


TOOL = Tool(
    name="export_conversation",
    title="Export a past conversation",
    description=(
        "Get a temporary address of one past conversation as a JSON file with every message. Call "
        "it when you need the whole conversation as structured data: too long to read here, or "
        "meant for a script. The address works without a sign-in for 15 minutes. Read short "
        "conversations with get_full_conversation instead."
    ),
    scope=Scope.CHAT_HISTORY_READ,
    arguments=ExportArguments,
    result=ConversationExport,
    run=_run,
    is_idempotent=False,
)
