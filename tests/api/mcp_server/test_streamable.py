"""Streamable HTTP over real connections: long calls, several processes, what proxies do."""

import json
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

import anyio
import httpx2
import pytest
from anyio import to_thread
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp.server import _streamable_http_modern
from starlette.testclient import TestClient

from api.mcp_server import handshake_era
from api.mcp_server.server import TOOL_SECONDS, RecallServer
from backread.settings import Settings
from tests.api.mcp_server.calls import MCP, MODERN, Caller
from tests.api.mcp_server.live_server import LiveServer, in_turns, running

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

CALL = {"name": "list_buckets", "arguments": {}}


def call(version: str) -> dict[str, Any]:
    """A tool call of an era, as httpx2's arguments."""
    if version != MODERN:
        headers = {"MCP-Protocol-Version": version}
        body = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": CALL}
        return {"headers": headers, "json": body}
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "trial", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "list_buckets",
    }
    params = {**CALL, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
    return {"headers": headers, "json": body}


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Tool calls wait until it is set."""
    event = Event()
    run: Callable[..., Any] = RecallServer._run

    async def waiting(self: RecallServer, *arguments: Any) -> Any:
        await to_thread.run_sync(partial(event.wait, 20))
        return await run(self, *arguments)

    monkeypatch.setattr(RecallServer, "_run", waiting)
    return event


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep-alives come after a twentieth of a second, not after fifteen."""
    assert handshake_era.KEEP_ALIVE_SECONDS == 15
    assert _streamable_http_modern._SSE_PING_INTERVAL == 15
    monkeypatch.setattr(handshake_era, "KEEP_ALIVE_SECONDS", 0.05)
    monkeypatch.setattr(_streamable_http_modern, "_SSE_PING_INTERVAL", 0.05)


@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25", MODERN])
@pytest.mark.usefixtures("impatient")
def test_c24_a_long_call_keeps_its_connection_alive(
    live: LiveServer, release: Event, version: str
) -> None:
    assert TOOL_SECONDS <= 45  # ends before proxies and clients give up
    with (
        live.client(live.token()) as client,
        client.stream("POST", MCP, **call(version)) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-accel-buffering"] == "no"
        assert response.headers["cache-control"] == "no-store"
        lines = response.iter_lines()
        keep_alives = 0
        while keep_alives < 2:
            keep_alives += next(lines).startswith(":")
        release.set()
        data = next(line for line in lines if line.startswith("data:"))
        answer = json.loads(data.removeprefix("data:"))
        assert answer["id"] == 5
        assert answer["result"]["isError"] is False
        assert not any(line.startswith("data:") for line in lines)


@pytest.mark.usefixtures("impatient")
def test_c24_a_client_that_takes_no_streams_gets_its_long_call_as_json(
    live: LiveServer, release: Event
) -> None:
    release.set()
    with live.client(live.token(), Accept="application/json") as client:
        answer = client.post(MCP, **call("2025-11-25"))
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["result"]["isError"] is False


@pytest.mark.parametrize("version", ["2025-06-18", MODERN])
def test_c21_a_short_call_is_answered_in_json(live: LiveServer, version: str) -> None:
    with live.client(live.token()) as client:
        answer = client.post(MCP, **call(version))
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.json()["result"]["isError"] is False


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_c23_two_web_processes_serve_one_client_in_turns(
    settings: Settings, mode: ConnectMode
) -> None:
    with running(settings) as first:
        shared = settings.model_copy(update={"public_url": first.origin})
        with running(shared) as second, in_turns(first, second) as origin:
            token = first.token()

            async def scenario() -> None:
                headers = {"Authorization": f"Bearer {token}", "Connection": "close"}
                async with (
                    httpx2.AsyncClient(headers=headers, timeout=20) as http,
                    Client(
                        streamable_http_client(f"{origin}{MCP}", http_client=http), mode=mode
                    ) as client,
                ):
                    for _ in range(6):
                        called = await client.call_tool("list_buckets", {})
                        assert not called.is_error
                        assert called.structured_content is not None

            anyio.run(scenario)


# The addresses and headers that proxies and filters meddle with.

WELL_KNOWN = [
    f"/.well-known/{document}{resource}"
    for document in (
        "oauth-protected-resource",
        "oauth-authorization-server",
        "openid-configuration",
    )
    for resource in ("", "/api/mcp/mcp", "/api/mcp/sse")
]


@pytest.mark.parametrize("path", WELL_KNOWN)
def test_c05_discovery_is_served_with_and_without_slash(browser: TestClient, path: str) -> None:
    plain = browser.get(path)
    assert plain.status_code == 200
    assert browser.get(f"{path}/").json() == plain.json()
    for method in ("HEAD", "OPTIONS", "POST", "DELETE"):
        for spelling in (path, f"{path}/"):
            assert not 300 <= browser.request(method, spelling).status_code < 400


@pytest.mark.parametrize("path", ["/authorize", "/token", "/register", "/revoke"])
def test_c05_oauth_endpoints_never_redirect_to_another_spelling(
    browser: TestClient, path: str
) -> None:
    for spelling in (path, f"{path}/"):
        for method in ("GET", "POST", "HEAD", "DELETE"):
            answer = browser.request(method, spelling)
            assert answer.headers.get("location", "").rstrip("/") != f"{browser.base_url}{path[1:]}"
            assert answer.status_code not in {301, 307, 308}


@pytest.mark.parametrize("transport", ["mcp", "sse"])
def test_c02_each_addresss_metadata_names_exactly_that_address(
    browser: TestClient, settings: Settings, transport: str
) -> None:
    body = browser.get(f"/.well-known/oauth-protected-resource/api/mcp/{transport}").json()
    assert body["resource"] == f"{settings.origin}/api/mcp/{transport}"
    assert body["authorization_servers"] == [settings.origin]


@pytest.mark.parametrize(
    "agent",
    [
        "Claude-User",
        "python-httpx/0.28.1",
        "claude-code/2.1",
        "openai-mcp/1.0.0",
        "Mozilla/5.0 (compatible; GPTBot/1.2)",
        "curl/8.0",
        "",
        None,
    ],
)
def test_c35_no_client_is_refused_for_its_name(caller: Caller, agent: str | None) -> None:
    assert caller.rpc("tools/list", headers={"User-Agent": agent}).status_code == 200
    answer = Caller(caller.browser).rpc("tools/list", headers={"User-Agent": agent})
    assert answer.status_code == 401
