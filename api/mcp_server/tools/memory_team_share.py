"""memory_team_share: gives the team a copy of a memory."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.arguments import Id
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.settings import Settings
from recall.agents.team import SharedResult, share


class ShareArguments(Arguments):
    memory_id: Id | None = Field(None, description="Memory to share, from search_memories.")
    text: str | None = Field(None, description="Or a statement to share.")


def has_team(settings: Settings) -> bool:
    """The tools of the team are unknown to clients of a server without one."""
    return bool(settings.team_id)


def _run(kernel: Kernel, principal: Principal, arguments: ShareArguments) -> Answer:
    result = share(kernel, principal, memory_id=arguments.memory_id, text=arguments.text)
    return Answer(result.text, result)


TOOL = Tool(
    name="memory_team_share",
    title="Share with the team",
    description="Share a memory with everybody who uses this server. Give memoryId, or text. Only "
    "when the user asks for it: the others can read what is shared.",
    scope=Scope.MEMORY_WRITE,
    arguments=ShareArguments,
    result=SharedResult,
    run=_run,
    is_read_only=False,
    is_offered=has_team,
)
