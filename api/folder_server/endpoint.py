"""The folder MCP server's address: who may call is decided here, then the transport answers.

The key in the Authorization header is all there is. A refusal must not look like the beginning of
an OAuth sign-in: clients that read `resource_metadata` in it, or find a document about this path,
drop the key that they were given and open a browser. So there is neither.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.folder_server.caller import key_holder
from api.folder_server.server import FolderServer
from api.mcp_server.access import bearer, error, refuse
from api.mcp_server.streamable import StreamableHttp, decoded
from api.origins import is_known_origin
from backread.kernel import Kernel
from recall.folders.keys import use_key


class FolderEndpoint:
    """An ASGI application for the exact address of the folder server, with and without slash."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._http = StreamableHttp(FolderServer(kernel).build())

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves while the block runs. Once per instance."""
        async with self._http.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._refusal(request)
        if response is None and request.method != "POST":
            response = Response(status_code=405, headers={"Allow": "POST, OPTIONS"})
        if response is not None:
            await refuse(request, response, send)
            return
        body = await request.body()
        await self._http.serve(scope, receive, send, body, decoded(body))

    async def _refusal(self, request: Request) -> Response | None:
        """Why the request goes no further, or None. Puts the key's holder into its state."""
        origin = request.headers.get("origin")
        if origin is not None and not is_known_origin(self._kernel.settings, origin):
            return error(403, "forbidden_origin", f"requests from {origin[:100]} are not allowed")
        key = bearer(request.headers)
        access = await to_thread.run_sync(use_key, self._kernel, key) if key else None
        if access is None:
            return _unauthorized(is_given=key is not None)
        request.state.principal = key_holder(access)
        return None


def _unauthorized(*, is_given: bool) -> Response:
    description = (
        "this access key is not valid: it is mistyped, has expired or was revoked"
        if is_given
        else "send the folder's access key: Authorization: Bearer <key>"
    )
    response = error(401, "invalid_token", description)
    response.headers["WWW-Authenticate"] = 'Bearer realm="folder", error="invalid_token"'
    return response
