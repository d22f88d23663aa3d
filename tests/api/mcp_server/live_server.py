"""A server on loopback with a signed-in owner, for what needs real connections: streams that stay
open, and several processes behind one address."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from threading import Thread
from typing import Any

import httpx2
from fastapi import FastAPI
from starlette.types import ASGIApp

from api.accounts.sessions import cookie_name, create_session
from backread.settings import Settings
from backread.store.models import Account
from tests.api.live import loopback_socket, serving
from tests.api.oauth.flow import new_flow

ACCEPT_BOTH = "application/json, text/event-stream"


@dataclass
class LiveServer:
    """One running web process. `browser` is the owner's."""

    app: FastAPI
    settings: Settings
    browser: httpx2.Client

    @property
    def origin(self) -> str:
        return self.settings.origin

    def token(self, **registration: Any) -> str:
        """An access token of a client of its own."""
        return str(new_flow(self.browser, **registration).tokens()["access_token"])

    def client(self, token: str | None, **headers: str) -> httpx2.Client:
        own = {"Accept": ACCEPT_BOTH, "Content-Type": "application/json"}
        if token:
            own["Authorization"] = f"Bearer {token}"
        return httpx2.Client(base_url=self.origin, headers=own | headers, timeout=20)

    def session_of(self, email: str) -> httpx2.Client:
        """The browser of a new account."""
        kernel = self.app.state.kernel
        with kernel.store.write() as session:
            account = Account(email=email, password_hash="unused", role="member")
            session.add(account)
            session.flush()
            token = create_session(session, account)
        return httpx2.Client(
            base_url=self.origin, cookies={cookie_name(self.settings): token}, timeout=20
        )


@contextmanager
def running(
    settings: Settings, wrap: Callable[[ASGIApp], ASGIApp] = lambda app: app
) -> Iterator[LiveServer]:
    """A web process with these settings, on a free port. `wrap` puts something before it."""
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with listener, serving(settings, listener, wrap) as app:
        server = LiveServer(app, settings, httpx2.Client())
        with server.session_of(f"ada-{port}@example.org") as browser:
            server.browser = browser
            yield server


@contextmanager
def in_turns(*servers: LiveServer) -> Iterator[str]:
    """An address whose connections go to each of the servers in turn, as a proxy sends them.
    Yields its origin."""
    entrance, port = loopback_socket()
    entrance.listen(64)

    def accept() -> None:
        for server in cycle(servers):
            try:
                near, _ = entrance.accept()
            except OSError:
                return  # closed: the test is over
            far = socket.create_connection(("127.0.0.1", server.settings.port))
            Thread(target=_relay, args=(near, far), daemon=True).start()

    acceptor = Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        entrance.shutdown(socket.SHUT_RDWR)
        acceptor.join()
        entrance.close()


def _relay(near: socket.socket, far: socket.socket) -> None:
    with near, far:
        back = Thread(target=_pump, args=(far, near), daemon=True)
        back.start()
        _pump(near, far)
        back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):  # the other direction has ended the connection
        while data := source.recv(65_536):
            sink.sendall(data)
    for side in (source, sink):
        with suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
