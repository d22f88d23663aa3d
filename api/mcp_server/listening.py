"""`subscriptions/listen` (MCP 2026-07-28): tells a client when a resource that it has read is not
the same any more.

A stream looks at its own account every few seconds, and only when something in the account has
changed at all at the resources themselves. So nothing has to be told between processes, whichever
of them a change happens in, and no stream can hear of another account. The handshake eras have no
stream to send such notices on here (every request is answered by itself), so nothing is offered
there.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio
from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    ResourceUpdatedNotification,
    ResourceUpdatedNotificationParams,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from starlette.requests import Request

from api.mcp_server.access import bearer
from api.mcp_server.resource_desk import ResourceDesk
from api.oauth.resources import recall_resource
from api.oauth.tokens import verify_bearer
from backread.domain import Principal
from backread.errors import BackreadError
from backread.kernel import Kernel
from backread.store.repositories.account_clock import account_clock

LOOK_SECONDS = 2.0
MOST_STREAMS = 8  # of one account
MOST_ADDRESSES = 50  # of one stream


class ListenDesk:
    """The streams of one process, bound to its kernel."""

    def __init__(self, kernel: Kernel, resources: ResourceDesk) -> None:
        self._kernel = kernel
        self._resources = resources
        self._open: Counter[str] = Counter()

    async def listen(
        self, context: ServerRequestContext[Any, Request], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Sends a notice for each change until the client goes or its token ends. Only updates of
        resources are offered: the lists of tools and prompts change with a release alone."""
        if context.request_id is None or context.request is None:
            raise MCPError(INVALID_REQUEST, "subscriptions/listen needs a request id.")
        principal: Principal = context.request.state.principal
        asked = params.notifications.resource_subscriptions or []
        uris = [uri for uri in dict.fromkeys(asked) if self._may_read(principal, uri)]
        if len(uris) > MOST_ADDRESSES:
            raise MCPError(INVALID_PARAMS, f"A stream can watch {MOST_ADDRESSES} resources.")
        if self._open[principal.account_id] >= MOST_STREAMS:
            raise MCPError(INVALID_REQUEST, f"{MOST_STREAMS} streams are open; close one first.")
        self._open[principal.account_id] += 1
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: context.request_id}
        try:
            clock, seen = await to_thread.run_sync(self._look, principal, uris)
            await context.session.send_notification(
                SubscriptionsAcknowledgedNotification(
                    params=SubscriptionsAcknowledgedNotificationParams(
                        notifications=SubscriptionFilter(resource_subscriptions=uris or None),
                        _meta=meta,
                    )
                ),
                related_request_id=context.request_id,
            )
            while await to_thread.run_sync(self._is_good, context.request):
                await anyio.sleep(LOOK_SECONDS)
                if await to_thread.run_sync(self._clock, principal) == clock:
                    continue
                clock, now = await to_thread.run_sync(partial(self._look, principal, uris))
                for uri in uris:
                    if now[uri] != seen[uri]:
                        await context.session.send_notification(
                            ResourceUpdatedNotification(
                                params=ResourceUpdatedNotificationParams(uri=uri, _meta=meta)
                            ),
                            related_request_id=context.request_id,
                        )
                seen = now
        finally:
            self._open[principal.account_id] -= 1
        return SubscriptionsListenResult(_meta=meta)

    def _may_read(self, principal: Principal, uri: str) -> bool:
        kind = self._resources.kind(uri)
        return kind is not None and kind.match(uri) is not None and kind.scope in principal.scopes

    def _is_good(self, request: Request) -> bool:
        """Whether the token that opened the stream is still good."""
        token = bearer(request.headers)
        resource = recall_resource(self._kernel.settings)
        return token is not None and verify_bearer(self._kernel, token, resource) is not None

    def _clock(self, principal: Principal) -> object:
        with self._kernel.store.read() as session:
            return account_clock(session, principal.account_id)

    def _look(self, principal: Principal, uris: list[str]) -> tuple[object, Mapping[str, str]]:
        """The account's clock, read first so that no change is missed, and what each resource
        says now, as a digest."""
        clock = self._clock(principal)
        return clock, {uri: self._digest(principal, uri) for uri in uris}

    def _digest(self, principal: Principal, uri: str) -> str:
        kind = self._resources.kind(uri)
        values = kind.match(uri) if kind is not None else None
        if kind is None or values is None:
            return ""
        try:
            text = kind.read(self._kernel, principal, values)
        except BackreadError as error:
            return error.code  # gone, or away: that is a state, too
        return hashlib.sha256(_without_nonce(text).encode("utf-8", "replace")).hexdigest()


def _without_nonce(text: str) -> str:
    """The markers around recalled text are drawn anew for each answer."""
    lines = text.split("\n")
    kept = [
        line
        for line in lines
        if not line.startswith("<<<recall ") and not (line.startswith("recall ") and ">>>" in line)
    ]
    return "\n".join(kept)
