"""A span and two figures for each request. What is noted is its method, the template of its route
and the status: never the address, which may hold a question or an id."""

import time

from opentelemetry.trace import SpanKind
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backread.telemetry.metrics import count_request
from backread.telemetry.spans import span

_UNKNOWN = "unmatched"


class Telemetry:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method = scope["method"]
        began = time.monotonic()
        status = 500  # of whatever ends without an answer
        answered_after = None

        async def timed(message: Message) -> None:
            nonlocal status, answered_after
            if message["type"] == "http.response.start":
                status = message["status"]
                answered_after = time.monotonic() - began
            await send(message)

        with span("request", kind=SpanKind.SERVER) as note:
            try:
                await self.app(scope, receive, timed)
            finally:
                route = _template(scope)
                note(method=method if method.isalpha() else "other", route=route, status=status)
                took = time.monotonic() - began if answered_after is None else answered_after
                count_request(method, route, status, took)


def _template(scope: Scope) -> str:
    # FastAPI notes the whole template, with the prefixes of the routers around a route, in the
    # scope's own corner; on the route itself it begins after them.
    whole = scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")
    path = getattr(whole, "path", None)
    return path if isinstance(path, str) else _UNKNOWN
