"""The MCP project's own Python client against a real server on loopback, from nothing to an
answer: set-up, challenge, discovery, registration, PKCE, sign-in, consent, token, tools."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from api.accounts.setup_token import setup_token_path
from api.mcp_server.tools import TOOLS
from backread.settings import Settings
from tests.api.live import loopback_socket, serving
from tests.api.oauth.flow import form_fields


@dataclass
class Person:
    """A browser with somebody at it, who allows what is asked."""

    origin: str
    browser: httpx2.AsyncClient
    answers: list[dict[str, str]] = field(default_factory=list)

    async def set_up(self, token: str) -> None:
        page = await self.browser.get(f"{self.origin}/setup", params={"token": token})
        form = {name: values[0] for name, values in form_fields(page.text).items()}
        form |= {"token": token, "email": "ada@example.org", "password": "correct horse battery"}
        answer = await self.browser.post(f"{self.origin}/setup", data=form)
        assert answer.status_code == 303, answer.text

    async def allow(self, url: str) -> None:
        page = await self.browser.get(url)
        assert page.status_code == 200, page.text
        form = form_fields(page.text)
        answer = await self.browser.post(
            f"{self.origin}/authorize", data=form | {"decision": "allow"}
        )
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        self.answers.append({name: values[0] for name, values in query.items()})

    async def last_answer(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self.answers[-1])


class Storage:
    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def connection(person: Person, storage: Storage) -> httpx2.AsyncClient:
    provider = OAuthClientProvider(
        f"{person.origin}/api/mcp/mcp",
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


@pytest.fixture
def origin(home: Path, database: str) -> Iterator[str]:
    listener, port = loopback_socket()
    settings = Settings(home=home, database_url=database, port=port, embedding_model="hashing")
    origin = settings.origin
    with listener, serving(settings, listener):
        yield origin


@pytest.mark.parametrize(
    ("mode", "version"),
    [("auto", "2026-07-28"), ("legacy", "2025-11-25")],
)
def test_a_real_client_signs_in_and_calls_tools_in_both_eras(
    origin: str, home: Path, mode: ConnectMode, version: str
) -> None:
    token = setup_token_path(Settings(home=home)).read_text()

    async def scenario() -> None:
        storage = Storage()
        async with httpx2.AsyncClient(timeout=30) as browser:
            person = Person(origin, browser)
            await person.set_up(token)
            async with (
                connection(person, storage) as http,
                Client(
                    streamable_http_client(f"{origin}/api/mcp/mcp", http_client=http), mode=mode
                ) as client,
            ):
                assert client.protocol_version == version
                assert client.instructions
                tools = await client.list_tools()
                assert [tool.name for tool in tools.tools] == [
                    tool.name for tool in TOOLS if tool.is_offered(Settings())
                ]
                stored = await client.call_tool("store_memory", {"text": "Ada prefers tea."})
                assert not stored.is_error, stored.content
                found = await client.call_tool("search_memories", {"query": "tea"})
                assert found.structured_content["memories"][0]["text"] == "Ada prefers tea."
                nothing = await client.call_tool("recall_chat_history", {"query": "tea"})
                assert nothing.structured_content["answers"][0]["found"] is False
        assert storage.tokens is not None
        assert storage.tokens.refresh_token
        assert len(person.answers) == 1

    anyio.run(scenario)


def test_c23_a_token_survives_a_restart_and_a_stale_session_id_is_ignored(
    home: Path, database: str
) -> None:
    async def first(origin: str, storage: Storage, token: str) -> None:
        async with httpx2.AsyncClient(timeout=30) as browser:
            person = Person(origin, browser)
            await person.set_up(token)
            transport = connection(person, storage)
            async with (
                transport as http,
                Client(streamable_http_client(f"{origin}/api/mcp/mcp", http_client=http)) as client,
            ):
                await client.list_tools()

    async def second(origin: str, storage: Storage) -> None:
        assert storage.tokens is not None
        headers = {
            "Authorization": f"Bearer {storage.tokens.access_token}",
            "Mcp-Session-Id": "left-over-from-before",
        }
        async with httpx2.AsyncClient(timeout=30, headers=headers) as http:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            answer = await http.post(f"{origin}/api/mcp/mcp", json=body)
            assert answer.status_code == 200
            assert "mcp-session-id" not in answer.headers

    listener, port = loopback_socket()
    settings = Settings(home=home, database_url=database, port=port, embedding_model="hashing")
    storage = Storage()
    origin = settings.origin
    with listener, serving(settings, listener):
        token = setup_token_path(settings).read_text()
        anyio.run(first, origin, storage, token)
    again, port = loopback_socket()
    moved = settings.model_copy(update={"port": port, "public_url": settings.origin})
    with again, serving(moved, again):
        anyio.run(second, f"http://127.0.0.1:{port}", storage)
