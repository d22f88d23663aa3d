"""An event stream of HTTP+SSE, read line by line as clients of that age do."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.api.mcp_server.live_server import LiveServer

SSE = "/api/mcp/sse"


@dataclass
class EventStream:
    response: httpx2.Response
    poster: httpx2.Client
    comments: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines = self.response.iter_lines()

    def event(self) -> tuple[str, str]:
        """Name and data of the next event. Comments before it are kept."""
        name = data = ""
        for line in self._lines:
            if line.startswith(":"):
                self.comments.append(line)
            elif line.startswith("event:"):
                name = line.removeprefix("event:").strip()
            elif line.startswith("data:"):
                data += line.removeprefix("data:").strip()
            elif not line and data:
                return name, data
        raise AssertionError("the stream ended")

    def comment(self) -> str:
        """The next comment line."""
        for line in self._lines:
            if line.startswith(":"):
                return line
        raise AssertionError("the stream ended")

    def post(self, address: str, method: str, **params: Any) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": f"id of {method}", "method": method, "params": params}
        return self.poster.post(address, json=body)

    def answer(self, address: str, method: str, **params: Any) -> dict[str, Any]:
        """Posts a request and reads its answer from the stream."""
        posted = self.post(address, method, **params)
        assert posted.status_code == 202, posted.text
        name, data = self.event()
        assert name == "message"
        reply: dict[str, Any] = json.loads(data)
        assert reply["id"] == f"id of {method}"
        return reply


@contextmanager
def opened(server: LiveServer, token: str, poster: httpx2.Client) -> Iterator[EventStream]:
    """A stream of this server; messages are posted with the client given."""
    with (
        server.client(token, Accept="text/event-stream") as client,
        client.stream("GET", SSE) as response,
    ):
        assert response.status_code == 200, response.read()
        yield EventStream(response, poster)
