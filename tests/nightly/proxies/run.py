"""The shipped configurations of nginx and Caddy in front of a real server: nothing that AI clients
need is lost on the way.

    .venv/bin/python -m tests.nightly.proxies.run [--nginx /usr/sbin/nginx] [--caddy /usr/bin/caddy]

Needs nginx and Caddy, as Debian packages them, and openssl. Only the name, the ports, and the
certificate are changed in the configurations. Exits with 0 when every check held.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import IO

import httpx2

from backread.settings import Settings
from backread.store.engine import Store
from backread.store.migrate import upgrade
from tests.api.live import loopback_socket
from tests.api.mcp_server.calls import MCP
from tests.api.mcp_server.event_stream import SSE, EventStream
from tests.api.mcp_server.live_server import ACCEPT_BOTH, LiveServer, running
from tests.support import wait_until

DEPLOY = Path(__file__).parents[3] / "deploy"
HOSTILE = {
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "http",
    "Forwarded": "host=evil.example;proto=http",
}
_NGINX_MAIN = """\
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/backread.conf;
}}
"""
_CADDY_MAIN = """\
{{
	admin off
	auto_https off
	storage file_system {folder}/caddy
}}
import {folder}/backread.caddy
"""
_STOP_SECONDS = 5.0
Proxy = Callable[[Path, LiveServer, int], AbstractContextManager[httpx2.Client]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nginx", default=shutil.which("nginx") or "/usr/sbin/nginx")
    parser.add_argument("--caddy", default=shutil.which("caddy") or "/usr/bin/caddy")
    options = parser.parse_args()
    check("nginx", partial(nginx, options.nginx))
    check("Caddy", partial(caddy, options.caddy))


def check(name: str, proxy: Proxy) -> None:
    """Everything that a proxy could lose, through this one."""
    say(f"{name}:")
    with tempfile.TemporaryDirectory(prefix="backread-proxy-") as temporary:
        folder = Path(temporary)
        _make_certificate(folder)
        os.environ["SSL_CERT_FILE"] = str(folder / "fullchain.pem")  # for every client below
        entrance, port = loopback_socket()
        entrance.close()
        settings = Settings(
            home=folder, public_url=f"https://localhost:{port}", embedding_model="hashing"
        )
        store = Store(settings.sqlalchemy_url)
        upgrade(store)
        store.close()
        with running(settings) as server, proxy(folder, server, port) as client:
            check_discovery(client, server)
            check_calls(client, server)
            check_stream(client, server)
    say(f"The shipped {name} configuration holds.")


def _make_certificate(folder: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"),
        ],
        check=True,
        capture_output=True,
    )


@contextmanager
def nginx(program: str, folder: Path, server: LiveServer, port: int) -> Iterator[httpx2.Client]:
    """nginx on the port, in front of the server; yields a client of it."""
    plain, plain_port = loopback_socket()
    plain.close()
    changes = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "listen 80": f"listen 127.0.0.1:{plain_port}",
        "backread.example.org": "localhost",
        "/etc/ssl/backread": str(folder),
        "/var/log/nginx/access.log": str(folder / "access.log"),
        "127.0.0.1:8787": f"127.0.0.1:{server.settings.port}",
    }
    (folder / "backread.conf").write_text(_changed("nginx.conf", changes))
    (folder / "nginx.conf").write_text(_NGINX_MAIN.format(folder=folder))
    command = [program, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    subprocess.run([*command, "-t"], check=True)
    with _running(command, port) as client:
        yield client


@contextmanager
def caddy(program: str, folder: Path, server: LiveServer, port: int) -> Iterator[httpx2.Client]:
    """Caddy on the port, in front of the server; yields a client of it."""
    certificate = f"\ttls {folder}/fullchain.pem {folder}/privkey.pem"
    changes = {
        "backread.example.org {": f"https://localhost:{port} {{\n{certificate}",
        "127.0.0.1:8787": f"127.0.0.1:{server.settings.port}",
    }
    (folder / "backread.caddy").write_text(_changed("Caddyfile", changes))
    (folder / "Caddyfile").write_text(_CADDY_MAIN.format(folder=folder))
    command = [program, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    with (folder / "caddy.log").open("wb") as log, _running(command, port, log) as client:
        yield client


def _changed(name: str, changes: dict[str, str]) -> str:
    """A shipped configuration with what cannot be the same here."""
    sample = (DEPLOY / name).read_text()
    for old, new in changes.items():
        assert old in sample, old
        sample = sample.replace(old, new)
    return sample


@contextmanager
def _running(
    command: list[str], port: int, log: IO[bytes] | None = None
) -> Iterator[httpx2.Client]:
    with subprocess.Popen(command, stdout=log, stderr=log) as process:
        client = httpx2.Client(base_url=f"https://localhost:{port}", timeout=30)
        try:
            with client:
                wait_until(lambda: _answers(client), what=command[0])
                yield client
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()  # it waits for connections, and nothing is left to see


def _answers(client: httpx2.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx2.TransportError:
        return False


def check_discovery(client: httpx2.Client, server: LiveServer) -> None:
    """Every address, in both spellings, is served as it is and names the public one, whatever
    a client puts into forwarding headers."""
    origin = server.origin
    for headers in ({}, HOSTILE):
        for path in (MCP, f"{MCP}/", SSE, f"{SSE}/"):
            answer = client.post(path, json={}, headers=headers)
            assert answer.status_code == 401, (path, answer.status_code)
            named = re.search(r'resource_metadata="([^"]+)"', answer.headers["www-authenticate"])
            assert named, path
            assert named.group(1).startswith(f"{origin}/.well-known/oauth-protected-resource/")
            metadata = client.get(named.group(1), headers=headers).json()
            assert metadata["resource"] == origin + path.rstrip("/")
            assert metadata["authorization_servers"] == [origin]
        issuer = client.get("/.well-known/oauth-authorization-server", headers=headers).json()
        assert issuer["issuer"] == origin
        assert issuer["token_endpoint"] == f"{origin}/token"
    say("c03, c36: discovery names the public address, with and without slash")


def check_calls(client: httpx2.Client, server: LiveServer) -> None:
    client.headers["Authorization"] = f"Bearer {server.token()}"
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for path in (MCP, f"{MCP}/"):
        answer = client.post(path, json=body, headers={"Accept": ACCEPT_BOTH})
        assert answer.status_code == 200, answer.text
        assert answer.json()["result"]["tools"]
    say("c05, c36: calls pass, with and without slash")


def check_stream(client: httpx2.Client, server: LiveServer) -> None:
    """Events and keep-alives come as they are sent, not when a buffer is full."""
    with client.stream("GET", SSE) as response:
        assert response.status_code == 200
        stream = EventStream(response, client)
        name, address = stream.event()
        assert name == "endpoint"
        assert stream.answer(address, "ping")["result"] == {}
        assert stream.comment() == ": keep-alive"
    say("c24, c25: an event stream passes unbuffered, keep-alives too")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
