"""Uploads whose connection breaks, over real sockets."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

import httpx
import pytest

from api.accounts.sessions import cookie_name, create_session
from api.routes import tus
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account
from tests.api.live import loopback_socket, serving
from tests.api.web.pages import csrf_of
from tests.support import wait_until

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture
def live(settings: Settings) -> Iterator[Settings]:
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with listener, serving(settings, listener):
        yield settings


@pytest.fixture
def api(live: Settings) -> Iterator[httpx.Client]:
    with signed_in(live) as client:
        yield client


@contextmanager
def signed_in(live: Settings) -> Iterator[httpx.Client]:
    """Somebody's signed-in browser."""
    kernel = Kernel(live)
    with kernel.store.write() as session:
        account = Account(email="ada@example.org", password_hash="unused", role="owner")
        session.add(account)
        session.flush()
        token = create_session(session, account)
    kernel.close()
    with httpx.Client(base_url=live.origin, cookies={cookie_name(live): token}) as client:
        client.headers["X-CSRF-Token"] = csrf_of(client)  # type: ignore[arg-type]
        yield client


def begin(api: httpx.Client, size: int) -> str:
    answer = api.post("/api/v1/uploads", headers=TUS | {"Upload-Length": str(size)})
    return str(answer.headers["Location"])


def send_half(live: Settings, api: httpx.Client, where: str) -> socket.socket:
    """A connection that has announced ten bytes and sent five."""
    headers = [
        f"PATCH {where} HTTP/1.1",
        f"Host: 127.0.0.1:{live.port}",
        f"Cookie: {'; '.join(f'{key}={value}' for key, value in api.cookies.items())}",
        f"X-CSRF-Token: {api.headers['X-CSRF-Token']}",
        "Tus-Resumable: 1.0.0",
        "Content-Type: application/offset+octet-stream",
        "Upload-Offset: 0",
        "Content-Length: 10",
    ]
    connection = socket.create_connection(("127.0.0.1", live.port))
    connection.sendall(("\r\n".join(headers) + "\r\n\r\n01234").encode())
    return connection


def add(api: httpx.Client, where: str, offset: int, data: bytes) -> int:
    headers = TUS | {
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": str(offset),
    }
    return api.patch(where, content=data, headers=headers).status_code


def offset_of(api: httpx.Client, where: str) -> int:
    return int(api.head(where, headers=TUS).headers["Upload-Offset"])


def test_what_came_before_the_connection_broke_is_kept(live: Settings, api: httpx.Client) -> None:
    where = begin(api, 10)
    with closing(send_half(live, api, where)):
        # Held by the first request, and the server answers all the same.
        wait_until(lambda: add(api, where, 7, b"789") == 423, what="the first request")
        assert api.get("/healthz").status_code == 200
    wait_until(lambda: offset_of(api, where) == 5, what="the first half")
    wait_until(lambda: add(api, where, 5, b"56789") == 204, what="the second half")
    assert offset_of(api, where) == 10
    stored = next(live.uploads_dir.glob("*.upload"))
    assert stored.read_bytes() == b"0123456789"


def test_a_connection_that_falls_silent_lets_its_upload_go(
    live: Settings, api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tus, "_SILENCE_SECONDS", 0.2)
    where = begin(api, 10)
    with closing(send_half(live, api, where)):
        wait_until(lambda: offset_of(api, where) == 5, what="the first half")
        wait_until(lambda: add(api, where, 5, b"56789") == 204, what="the lock")
    assert next(live.uploads_dir.glob("*.upload")).read_bytes() == b"0123456789"


def test_an_upload_goes_on_after_a_restart_of_the_server(settings: Settings) -> None:
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with listener, serving(settings, listener), signed_in(settings) as api:
        where = begin(api, 10)
        assert add(api, where, 0, b"01234") == 204
        cookies = dict(api.cookies)
    listener = socket.create_server(("127.0.0.1", port))
    again = httpx.Client(base_url=settings.origin, cookies=cookies)
    with listener, serving(settings, listener), again as api:
        api.headers["X-CSRF-Token"] = csrf_of(api)  # type: ignore[arg-type]
        assert offset_of(api, where) == 5
        assert add(api, where, 5, b"56789") == 204
    assert next(settings.uploads_dir.glob("*.upload")).read_bytes() == b"0123456789"
