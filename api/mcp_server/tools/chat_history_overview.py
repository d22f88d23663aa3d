"""chat_history_overview: who the person is and what they work on, by their chats."""

from api.mcp_server.tool import Answer, Arguments, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.overview.reading import chat_history_overview
from recall.overview.results import ChatHistoryOverview


class NoArguments(Arguments):
    """Takes nothing."""


def _run(kernel: Kernel, principal: Principal, _: NoArguments) -> Answer:
    result = chat_history_overview(kernel, principal)
    return Answer(result.text, result)


TOOL = Tool(
    name="chat_history_overview",
    title="Get an overview of the user",
    description=(
        "Get a portrait of the user made from their whole chat history (topics over time, "
        "recurring people, projects and tools, how they work) and an inventory of it (platforms, "
        "counts, periods, languages), with sources. Call it for a broad picture of who the user "
        "is and what they work on, before any specific lookup."
    ),
    scope=Scope.MEMORY_READ,
    arguments=NoArguments,
    result=ChatHistoryOverview,
    run=_run,
)
