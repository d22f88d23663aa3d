"""memory_team_feed: what the team has shared."""

from pydantic import Field

from api.mcp_server.tool import Answer, Arguments, Tool
from api.mcp_server.tools.memory_team_share import has_team
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.agents.team import DEFAULT_ITEMS, MAX_ITEMS, TeamFeed, feed


class FeedArguments(Arguments):
    limit: int = Field(
        DEFAULT_ITEMS,
        ge=1,
        le=MAX_ITEMS,
        description=f"Items to return. Default {DEFAULT_ITEMS}, max {MAX_ITEMS}.",
        json_schema_extra={"type": "number"},
    )
    cursor: str = Field("", max_length=64, description="nextCursor of the page before.")


def _run(kernel: Kernel, principal: Principal, arguments: FeedArguments) -> Answer:
    result = feed(kernel, principal, limit=arguments.limit, cursor=arguments.cursor)
    return Answer(result.text, result)


TOOL = Tool(
    name="memory_team_feed",
    title="Team feed",
    description="Read what the people of this server have shared with each other, the latest "
    "first: decisions, conventions, findings.",
    scope=Scope.MEMORY_READ,
    arguments=FeedArguments,
    result=TeamFeed,
    run=_run,
    is_offered=has_team,
)
