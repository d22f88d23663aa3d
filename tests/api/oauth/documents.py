"""A web server for client documents: real HTTPS on loopback, under names of the public internet."""

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import trustme

from api.oauth.guarded_fetch import GuardedFetcher

HOST = "tool.example"


class DocumentServer:
    """Answers what its `answers` say, by path. `url` gives an address as a client would name it."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self.port = port
        self._context = context
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.requests: list[str] = []
        self.delay = threading.Event()

    def url(self, path: str = "/client.json") -> str:
        return f"https://{HOST}:{self.port}{path}"

    def fetcher(self) -> GuardedFetcher:
        """One that finds this server under every name, and takes loopback for public."""
        return GuardedFetcher(
            resolve=lambda host, port: ["127.0.0.1"],
            is_public=lambda address: address == "127.0.0.1",
            ssl_context=self._context,
        )

    def describe(self, path: str = "/client.json", /, cache: str = "", **changes: Any) -> str:
        """Puts a good document at `path`, changed as told, and returns its address."""
        document: dict[str, Any] = {
            "client_id": self.url(path),
            "client_name": "Trial Tool",
            "redirect_uris": ["http://127.0.0.1/callback"],
            "grant_types": ["authorization_code", "refresh_token", "device_code"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            **changes,
        }
        kept = {key: value for key, value in document.items() if value is not None}
        headers = {"Content-Type": "application/json"} | ({"Cache-Control": cache} if cache else {})
        self.answers[path] = (200, headers, json.dumps(kept).encode())
        return self.url(path)


@contextmanager
def document_server() -> Iterator[DocumentServer]:
    authority = trustme.CA()
    certificate = authority.issue_cert(HOST)
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(server_context)
    client_context = ssl.create_default_context()
    authority.configure_trust(client_context)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            documents.requests.append(self.path)
            if self.path == "/drip":
                self._drip()
                return
            status, headers, body = documents.answers.get(self.path, (404, {}, b"nothing here"))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _drip(self) -> None:
            """One byte now and then, for ever."""
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            started = time.monotonic()
            while not documents.delay.wait(0.05) and time.monotonic() - started < 60:
                try:
                    self.wfile.write(b" ")
                except OSError:
                    return

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    documents = DocumentServer(server.server_address[1], client_context)
    server.socket = server_context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield documents
    finally:
        documents.delay.set()
        server.shutdown()
        thread.join()
        server.server_close()
