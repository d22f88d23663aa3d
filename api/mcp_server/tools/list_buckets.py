"""list_buckets: how the person's memories are organised."""

from api.mcp_server.tool import Answer, Arguments, Tool
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.memories import BucketList, buckets_within, list_buckets

_MOST_TOKENS = 12_000  # clients refuse more than twice that


class NoArguments(Arguments):
    """Takes nothing."""


def _run(kernel: Kernel, principal: Principal, _: NoArguments) -> Answer:
    result = list_buckets(kernel, principal)
    result = result.model_copy(update={"buckets": buckets_within(result.buckets, _MOST_TOKENS)})
    return Answer(result.text, result)


TOOL = Tool(
    name="list_buckets",
    title="List memory buckets",
    description=(
        "List the user's memory buckets with their ids. Call it before storing into or searching "
        "a specific bucket, or when the user asks how their memories are organised."
    ),
    scope=Scope.MEMORY_READ,
    arguments=NoArguments,
    result=BucketList,
    run=_run,
)
