"""The web server process: uvicorn around the application."""

import socket
from collections.abc import Callable

import uvicorn
from anyio import to_thread

from api.accounts.setup_token import ensure_setup_token
from api.app import create_app
from backread.settings import Settings
from backread.supervisor.index import wait_for_index

_GRACEFUL_SECONDS = 8
_INDEX_WAIT_SECONDS = 10.0


class WebServer(uvicorn.Server):
    """`on_ready` is told the set-up token (empty when there is an owner) once pages answer."""

    def __init__(self, settings: Settings, *, on_ready: Callable[[str], None]) -> None:
        self._settings = settings
        self._on_ready = on_ready
        self._app = create_app(settings)
        super().__init__(
            uvicorn.Config(
                self._app,
                log_level=settings.log_level.lower(),
                access_log=False,
                log_config=None,  # its lines go the way of all others
                server_header=False,
                # Who is behind a proxy is decided in the application, by the settings.
                proxy_headers=False,
                timeout_graceful_shutdown=_GRACEFUL_SECONDS,
                lifespan="on",
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        has_index = await to_thread.run_sync(wait_for_index, self._settings, _INDEX_WAIT_SECONDS)
        await super().startup(sockets)
        if not self.should_exit:
            self._on_ready(await to_thread.run_sync(self._open, has_index))

    def _open(self, has_index: bool) -> str:
        kernel = self._app.state.kernel
        if has_index:
            # Opened later, while its owner restarts, the index would be taken by this process
            # and kept from the owner.
            _ = kernel.index
        return ensure_setup_token(self._settings, kernel.store) or ""
