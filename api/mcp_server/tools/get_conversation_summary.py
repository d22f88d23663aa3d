"""get_conversation_summary: what one conversation was about."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.summaries import ConversationSummary, conversation_summary


class SummaryArguments(Arguments):
    conversation_id: str = Field(
        min_length=1, description="conversationId from the sources of recall_chat_history."
    )


def _run(kernel: Kernel, principal: Principal, arguments: SummaryArguments) -> Answer:
    result = conversation_summary(kernel, principal, arguments.conversation_id.strip())
    return Answer(result.text, result)


TOOL = Tool(
    name="get_conversation_summary",
    title="Summarise a past conversation",
    description=(
        "Get a cited summary of one past conversation that recall_chat_history found. A "
        "conversation under 5,000 tokens comes back whole instead. Call it to look deeper into a "
        "source before answering; use get_full_conversation when the exact wording matters."
    ),
    scope=Scope.CHAT_HISTORY_READ,
    arguments=SummaryArguments,
    result=ConversationSummary,
    run=_run,
)
