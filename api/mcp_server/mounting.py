"""The MCP endpoint as the application mounts it: opened beside it, not before it.

The protocol's types take longer to load than everything else of the web server together. So the
first page does not wait for them; the first MCP request does, if it comes that early.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pkgutil import resolve_name
from threading import Lock
from typing import Any

import anyio
from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from backread.kernel import Kernel

RECALL_ENDPOINT = "api.mcp_server.endpoint:RecallEndpoint"
NOTES_ENDPOINT = "api.notes_server.endpoint:NotesEndpoint"
FOLDER_ENDPOINT = "api.folder_server.endpoint:FolderEndpoint"
_LOADING = Lock()
_PAUSE_SECONDS = 1.0  # in which the first page gets the processor to itself


class LateEndpoint:
    """Serves MCP requests; those that come before the endpoint is open wait for it."""

    def __init__(self, kernel: Kernel, name: str = RECALL_ENDPOINT) -> None:
        self._kernel = kernel
        self._name = name
        self._wanted = anyio.Event()
        self._opened = anyio.Event()
        self._closing = anyio.Event()
        self._endpoint: ASGIApp

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves while the block runs. Once per instance."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._serve)
            try:
                yield
            finally:
                self._wanted.set()
                self._closing.set()

    async def _serve(self) -> None:
        with anyio.move_on_after(_PAUSE_SECONDS):
            await self._wanted.wait()
        if self._closing.is_set():
            return
        make = await to_thread.run_sync(_load, self._name)
        endpoint = make(self._kernel)
        async with endpoint.run():
            self._endpoint = endpoint
            self._opened.set()
            await self._closing.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._wanted.set()
        await self._opened.wait()
        await self._endpoint(scope, receive, send)


def _load(name: str) -> Any:
    """One endpoint after the other. Modules that import one another, as the protocol's do, can be
    seen half made when two threads load them at the same time, and then the server does not
    start."""
    with _LOADING:
        return resolve_name(name)


class MountedEndpoint:
    """Hands requests to the endpoint that the running application keeps under a name."""

    def __init__(self, name: str = "recall_endpoint") -> None:
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint: LateEndpoint = getattr(scope["app"].state, self._name)
        await endpoint(scope, receive, send)
