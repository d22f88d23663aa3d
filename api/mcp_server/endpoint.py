"""The recall MCP server's addresses: who may call is decided here, then a transport answers.

Streamable HTTP is stateless in every protocol era, so any process can answer any request and a
restart loses nothing. HTTP+SSE keeps a stream open; see `legacy_sse`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.mcp_server.access import missing_scope, refusal, refuse
from api.mcp_server.legacy_sse import LegacySse
from api.mcp_server.server import RecallServer
from api.mcp_server.streamable import StreamableHttp, decoded
from api.oauth.resources import MESSAGES_PATH, RECALL_PATH, SSE_PATH
from backread.kernel import Kernel


class RecallEndpoint:
    """An ASGI application for the exact addresses of the MCP server, with and without slash."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._server = RecallServer(kernel)
        self._http = StreamableHttp(self._server.build())
        self._legacy = LegacySse(kernel, self._http)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves while the block runs. Once per instance."""
        async with self._http.run(), self._legacy.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removesuffix("/")
        resource_path = RECALL_PATH if path == RECALL_PATH else SSE_PATH
        request = Request(scope, receive)
        # Before anything else: a 405 without a challenge makes clients think none is needed.
        response = await refusal(self._kernel, request, resource_path)
        if response is not None:
            await refuse(request, response, send)
            return
        if path == SSE_PATH and request.method == "GET":
            await self._legacy.open(scope, receive, send)
            return
        if request.method != "POST":
            allowed = "GET, POST, OPTIONS" if path == SSE_PATH else "POST, OPTIONS"
            await refuse(request, Response(status_code=405, headers={"Allow": allowed}), send)
            return
        if path == MESSAGES_PATH:
            response = await self._legacy.refusal(request)
        body = await request.body()
        message = decoded(body)
        response = response or missing_scope(
            self._kernel.settings, request, resource_path, self._server.wanted(message)
        )
        if response is not None:
            await response(scope, receive, send)
        elif path == MESSAGES_PATH:
            await self._legacy.accept(scope, receive, send, body, message)
        else:
            await self._http.serve(scope, receive, send, body, message)
