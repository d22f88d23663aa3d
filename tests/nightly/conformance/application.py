"""The conformance build: our whole application, with the suite's fixture server in place of the
recall server. Middleware, addresses, sign-in, token checks and transport are the product's own.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from api.mcp_server.access import refusal
from api.mcp_server.streamable import StreamableHttp, decoded
from api.oauth.resources import RECALL_PATH
from backread.kernel import Kernel
from tests.nightly.conformance.fixture_server import fixture_server


class FixtureEndpoint:
    """Keeps sessions, other than the recall server: the scenarios of 2025-11-25 let tools ask
    the client in the middle of a call, which the recall server never does."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.http = StreamableHttp(fixture_server()._lowlevel_server, keeps_sessions=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await refusal(self._kernel, request, RECALL_PATH)
        if response is not None:
            await response(scope, receive, send)
            return
        body = await request.body()
        await self.http.serve(scope, receive, send, body, decoded(body))


def with_fixtures(app: FastAPI) -> FastAPI:
    """The application, which must not run yet, as a conformance build."""
    product = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: FastAPI) -> AsyncIterator[None]:
        async with product(running):
            endpoint = FixtureEndpoint(running.state.kernel)
            async with endpoint.http.run():
                running.state.recall_endpoint = endpoint
                yield

    app.router.lifespan_context = lifespan
    return app


class TokenEntrance:
    """A loopback entrance that adds an access token to requests without one: the suite's server
    scenarios know no sign-in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.token = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self.token:
            names = {name for name, _ in scope["headers"]}
            if b"authorization" not in names:
                header = (b"authorization", f"Bearer {self.token}".encode())
                scope = {**scope, "headers": [*scope["headers"], header]}
        await self._app(scope, receive, send)
