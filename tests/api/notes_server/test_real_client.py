"""The MCP project's own Python client against a real server on loopback, in both eras: from the
challenge to each tool's own example."""

from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

from api.accounts.sessions import cookie_name
from tests.api.mcp_server.live_server import LiveServer
from tests.api.mcp_server.test_real_client import Person, Storage

STACK = "projects/acme/stack.md"


def connection(person: Person, storage: Storage) -> httpx2.AsyncClient:
    provider = OAuthClientProvider(
        f"{person.origin}/mcp",
        OAuthClientMetadata(
            client_name="Python client",
            redirect_uris=[AnyUrl("http://127.0.0.1:41234/callback")],
            token_endpoint_auth_method="none",
        ),
        storage,
        redirect_handler=person.allow,
        callback_handler=person.last_answer,
    )
    return httpx2.AsyncClient(auth=provider, timeout=30)


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_a_real_client_signs_in_and_runs_every_example_of_the_contract(
    live: LiveServer, mode: ConnectMode, version: str
) -> None:
    async def scenario() -> None:
        cookies = {cookie_name(live.settings): live.browser.cookies[cookie_name(live.settings)]}
        async with httpx2.AsyncClient(timeout=30, cookies=cookies) as browser:
            person, storage = Person(live.origin, browser), Storage()
            async with (
                connection(person, storage) as http,
                Client(
                    streamable_http_client(f"{live.origin}/mcp", http_client=http), mode=mode
                ) as client,
            ):
                assert client.protocol_version == version
                assert "notes" in (client.instructions or "")
                assert len((await client.list_tools()).tools) == 6
                await _examples(client)
        assert storage.tokens is not None
        assert storage.tokens.scope == "memory:read memory:write"
        answer = httpx2.post(
            f"{live.origin}/api/mcp/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={"Authorization": f"Bearer {storage.tokens.access_token}"},
        )
        assert answer.status_code == 401

    anyio.run(scenario)


async def _examples(client: Client) -> None:
    async def call(tool: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return dict(result.structured_content or {})

    written = await call(
        "memory__write",
        path=STACK,
        body="# Stack\n\nWe use Postgres for full-text search.",
        frontmatter={"type": "note", "tags": ["project"]},
    )
    assert written["path"] == STACK
    edited = await call(
        "memory__edit",
        path=STACK,
        mode="str_replace",
        old_str="Postgres",
        new_str="Postgres 16",
    )
    assert edited["path"] == STACK
    found = await call("memory__search", query="postgres", limit=5)
    assert [(each["path"], each["score"]) for each in found["results"]] == [(STACK, 1)]
    note = await call("memory__read", path=STACK)
    assert note["body"] == "# Stack\n\nWe use Postgres 16 for full-text search."
    tree = await call("memory__list", folder="projects", depth=2)
    assert tree["entries"][0]["entries"][0]["path"] == STACK
    assert await call("memory__delete", path=STACK) == {"path": STACK, "deleted": True}
    assert (await call("memory__read", path=STACK))["deleted"] is True
