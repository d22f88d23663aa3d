"""What all work for a caller goes through: permission, rate, a thread and a time limit."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from api.errors import UNSTORABLE, unstorable
from api.token_buckets import TokenBuckets
from backread.domain import Principal, Scope
from backread.errors import BackreadError, InsufficientScope, RateLimited
from backread.log import get_logger

SECONDS = 45.0  # clients and proxies give up at 60
_BURST = 60
_SECONDS_PER_CALL = 0.5
_MOST_THREADS = 16

_log = get_logger("api.mcp")
T = TypeVar("T")


class Guard:
    """One for a server. Calls of all kinds share a client's rate and the pool of threads."""

    def __init__(self) -> None:
        self._rates = TokenBuckets(_BURST, _SECONDS_PER_CALL)
        # Its own pool: calls that are cut off keep their thread until they end by themselves.
        self.threads = anyio.CapacityLimiter(_MOST_THREADS)

    def check(self, principal: Principal, scope: Scope) -> None:
        """Raises InsufficientScope, and RateLimited for too many calls at once."""
        if scope not in principal.scopes:
            raise InsufficientScope(frozenset({scope.value}))
        wait = self._rates.take(f"{principal.account_id} {principal.client_id}")
        if wait:
            raise RateLimited("Too many tool calls at once.", retry_after_seconds=wait)

    async def run(self, name: str, principal: Principal, scope: Scope, work: Callable[[], T]) -> T:
        """What `work` gives, for prompts and resources: their errors are protocol errors. Raises
        MCPError with words that say what to do."""
        log = _log.bind(name=name, client_id=principal.client_id)
        try:
            self.check(principal, scope)
            with anyio.move_on_after(SECONDS):
                return await to_thread.run_sync(
                    partial(work), abandon_on_cancel=True, limiter=self.threads
                )
        except BackreadError as error:
            log.info("request_refused", reason=error.code)
            raise MCPError(INVALID_PARAMS, str(error)) from error
        except UNSTORABLE as error:
            log.warning("request_refused", reason="unstorable", error=type(error).__name__)
            raise MCPError(INVALID_PARAMS, str(unstorable())) from error
        log.warning("request_timed_out")
        raise MCPError(INTERNAL_ERROR, f"This took longer than {SECONDS:.0f} seconds.")
