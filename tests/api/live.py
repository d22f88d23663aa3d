"""A real server on a real loopback port, in a thread of the test."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from api.app import create_app
from backread.settings import Settings
from tests.support import wait_until


@contextmanager
def serving(
    settings: Settings,
    listener: socket.socket,
    wrap: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> Iterator[FastAPI]:
    """Serves on the socket, whose port the settings must name. Yields the running application.
    `wrap` may put something before it, as a proxy would be."""
    app = create_app(settings)
    config = uvicorn.Config(wrap(app), log_level="warning", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started, what="the server")
        yield app
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        assert not thread.is_alive()


def loopback_socket(address: str = "127.0.0.1") -> tuple[socket.socket, int]:
    listener = socket.socket()
    listener.bind((address, 0))
    return listener, int(listener.getsockname()[1])
