"""get_full_conversation: every word of one conversation, a page at a time when it is long."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.transcript_pages import next_page_id, transcript_page
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.transcripts import Transcript


class TranscriptArguments(Arguments):
    conversation_id: str = Field(
        min_length=1,
        description="conversationId from the sources of recall_chat_history, or the one that the "
        "previous page gave for the next.",
    )


def _run(kernel: Kernel, principal: Principal, arguments: TranscriptArguments) -> Answer:
    result = transcript_page(kernel, principal, arguments.conversation_id)
    lead = ""
    if following := next_page_id(result):
        lead = (
            f"Page {result.page} of {result.pages}. For the next page call get_full_conversation "
            f"with conversationId {following}\n\n"
        )
    return Answer(lead + result.text, result)


TOOL = Tool(
    name="get_full_conversation",
    title="Read a past conversation",
    description=(
        "Get the complete transcript of one past conversation, unsummarised. Call it when the "
        "exact wording matters or a summary is not enough. A very long conversation comes in "
        "pages; each page says how to get the next."
    ),
    scope=Scope.CHAT_HISTORY_READ,
    arguments=TranscriptArguments,
    result=Transcript,
    run=_run,
)
