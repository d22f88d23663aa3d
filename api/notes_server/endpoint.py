"""The notes MCP server's address: who may call is decided here, then the transport answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.mcp_server.access import missing_scope, refusal, refuse
from api.mcp_server.streamable import StreamableHttp, decoded
from api.notes_server.server import NotesServer
from api.oauth.resources import NOTES_PATH
from backread.kernel import Kernel


class NotesEndpoint:
    """An ASGI application for the exact address of the notes server, with and without slash."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._server = NotesServer(kernel)
        self._http = StreamableHttp(self._server.build())

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves while the block runs. Once per instance."""
        async with self._http.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await refusal(self._kernel, request, NOTES_PATH)
        if response is None and request.method != "POST":
            response = Response(status_code=405, headers={"Allow": "POST, OPTIONS"})
        if response is not None:
            await refuse(request, response, send)
            return
        body = await request.body()
        message = decoded(body)
        response = missing_scope(
            self._kernel.settings, request, NOTES_PATH, self._server.wanted(message)
        )
        if response is not None:
            await response(scope, receive, send)
        else:
            await self._http.serve(scope, receive, send, body, message)
