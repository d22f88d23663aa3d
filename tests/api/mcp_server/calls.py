"""Raw JSON-RPC over the application's ASGI door, as a client that already has a token."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2
from starlette.testclient import TestClient

MCP = "/api/mcp/mcp"
MODERN = "2026-07-28"
Headers = dict[str, str | None]


@dataclass
class Caller:
    """Sends requests with one token. Headers given as None are left out."""

    browser: TestClient
    token: str | None = None
    path: str = MCP

    def post(self, body: Any, headers: Headers | None = None) -> httpx2.Response:
        # In ASCII: half a character can be sent as an escape only.
        content = json.dumps(body).encode()
        own: Headers = {"Content-Type": "application/json"}
        return self._send("POST", own | (headers or {}), content=content)

    def request(self, method: str, headers: Headers | None = None) -> httpx2.Response:
        return self._send(method, headers)

    def rpc(
        self, method: str, params: dict[str, Any] | None = None, headers: Headers | None = None
    ) -> httpx2.Response:
        """A request of the handshake era."""
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method}
        if params is not None:
            body["params"] = params
        return self.post(body, headers)

    def modern(
        self, method: str, params: dict[str, Any] | None = None, headers: Headers | None = None
    ) -> httpx2.Response:
        """A request of the stateless era, with all that it must carry."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "trial", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        given = params or {}
        own: Headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if "name" in given:
            own["Mcp-Name"] = given["name"]
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**given, "_meta": meta}}
        return self.post(body, {**own, **(headers or {})})

    def call(self, tool: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of a tool call that got through."""
        answer = self.rpc("tools/call", {"name": tool, "arguments": arguments or {}})
        assert answer.status_code == 200, answer.text
        return dict(answer.json()["result"])

    def tools(self) -> list[str]:
        answer = self.rpc("tools/list")
        assert answer.status_code == 200, answer.text
        return [tool["name"] for tool in answer.json()["result"]["tools"]]

    def _send(self, method: str, headers: Headers | None, **content: Any) -> httpx2.Response:
        all_headers: Headers = {"Accept": "application/json, text/event-stream"}
        if self.token:
            all_headers["Authorization"] = f"Bearer {self.token}"
        all_headers |= headers or {}
        given = {name: value for name, value in all_headers.items() if value is not None}
        request = self.browser.build_request(method, self.path, headers=given, **content)
        for name in all_headers.keys() - given.keys():
            request.headers.pop(name, None)  # what the browser sends by itself
        return self.browser.send(request)


CallerFor = Callable[..., Caller]
