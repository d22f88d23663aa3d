"""`tools/list` without making its answer anew each time.

The definitions never change while a process runs, so what a caller sees depends on their scopes and
the protocol's revision alone. Checking and shaping the list again costs more than all the rest of
the request.
"""

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from api.mcp_server.caller import caller
from backread.domain import Scope


class KnownLists:
    """A middleware of the protocol's server: keeps the list for each set of scopes and revision, as
    it goes onto the wire."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, frozenset[Scope]], HandlerResult] = {}

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if ctx.method != "tools/list" or not _is_plain(ctx.params):
            return await call_next(ctx)
        key = (ctx.protocol_version, caller(ctx).scopes)
        if key not in self._known:
            self._known[key] = await call_next(ctx)
        return self._known[key]


def _is_plain(params: Any) -> bool:
    """Whether nothing is asked that could be answered otherwise, or has to be refused."""
    return not params or (params.keys() == {"_meta"} and isinstance(params["_meta"], dict))
