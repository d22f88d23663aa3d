"""The six `agentmemory://` resources and the team's tools, as the MCP client gets them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.shared.exceptions import MCPError
from sqlalchemy import select

from backread.domain import Principal, Scope
from backread.settings import Settings
from backread.store.models import Account
from recall.agents.updating import read_all_sessions
from recall.memories import store_memory
from tests.api.mcp_server.calls import CallerFor
from tests.api.mcp_server.contract.conftest import ERAS, Place
from tests.api.mcp_server.live_server import running
from tests.ingest.exports import import_files
from tests.recall.agents.sessions import done, loom_sessions, said, session_file

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

ALL = ("memory:read", "memory:write", "chat-history:read")
ADDRESSES = {
    "agentmemory://status",
    "agentmemory://memories/latest",
    "agentmemory://graph/stats",
    "agentmemory://project/loom/profile",
    "agentmemory://project/loom/recent",
    "agentmemory://project/my%20api%2Fv2/profile",
    "agentmemory://project/my%20api%2Fv2/recent",
    "agentmemory://team/acme%20engineering/profile",
}
TEMPLATES = {
    "agentmemory://project/{name}/profile",
    "agentmemory://project/{name}/recent",
    "agentmemory://team/{id}/profile",
}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"graph_extraction_enabled": True, "team_id": "acme engineering"}
    )


@pytest.fixture
def agents(settings: Settings, tmp_path: Path) -> Iterator[Place]:
    """A server with sessions of two projects, one with a name that has to be escaped."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    files = loom_sessions(folder)[:2]
    files.append(
        session_file(
            folder, "s-odd", "C:\\work\\my api/v2", 3, said("Name the route."), done("It is /v2.")
        )
    )
    with running(settings) as server:
        kernel = server.app.state.kernel
        with kernel.store.read() as session:
            account_id = str(session.scalars(select(Account.id)).one())
        principal = Principal(account_id, scopes=frozenset(Scope))
        for file in files:
            import_files(kernel, principal, file)
        read_all_sessions(kernel, account_id)
        memory = store_memory(kernel, principal, "Prefer jose over jsonwebtoken for auth.")
        yield Place(server, principal, {"memory": memory.memory_id})


async def read(client: Client, uri: str) -> Any:
    (content,) = (await client.read_resource(uri)).contents
    assert content.mime_type == "application/json"
    return json.loads(content.text)  # type: ignore[union-attr]


async def listed(client: Client) -> set[str]:
    uris: set[str] = set()
    cursor = None
    while True:
        page = await client.list_resources(cursor=cursor)
        uris |= {each.uri for each in page.resources}
        cursor = page.next_cursor
        if cursor is None:
            return uris


@pytest.mark.parametrize("era", ERAS)
def test_the_six_resources_have_the_fields_of_the_contract(agents: Place, era: ConnectMode) -> None:
    async def work(client: Client) -> None:
        templates = (await client.list_resource_templates()).resource_templates
        assert {each.uri_template for each in templates} >= TEMPLATES
        status = await read(client, "agentmemory://status")
        assert status == {"sessionCount": 3, "memoryCount": 1, "healthStatus": "available"}
        profile = await read(client, "agentmemory://project/loom/profile")
        assert profile["project"] == "loom"
        assert profile["sessionCount"] == len(profile["sessionIds"]) == 2
        assert profile["topConcepts"][0]["name"] == "JwtSigner"
        assert profile["mostAccessedFiles"][0] == {
            "name": "src/signer.ts",
            "count": 4,
            "sessions": 2,
        }
        assert profile["mostModifiedFiles"][0]["name"] == "src/signer.ts"
        assert profile["conventions"][0]["evidenceCount"] == 2
        assert profile["patterns"][0]["text"] == "npm test"
        recent = await read(client, "agentmemory://project/loom/recent")
        assert [set(each) for each in recent] == [
            {"sessionId", "project", "createdAt", "summary"}
        ] * 2
        assert [each["createdAt"][:10] for each in recent] == ["2026-03-03", "2026-03-02"]
        assert {each["project"] for each in recent} == {"loom"}
        assert "refresh route" in recent[0]["summary"]
        (memory,) = await read(client, "agentmemory://memories/latest")
        assert memory["id"] == agents.ids["memory"]
        assert memory["title"] == "Prefer jose over jsonwebtoken for auth."
        assert (memory["type"], memory["strength"]) == ("procedural", 1.0)
        stats = await read(client, "agentmemory://graph/stats")
        assert stats["totalNodes"] == sum(stats["nodesByType"].values()) > 0
        assert stats["totalEdges"] == sum(stats["edgesByType"].values()) > 0
        assert stats["nodesByType"]["file"] == 3
        team = await read(client, "agentmemory://team/acme%20engineering/profile")
        assert team == {"teamId": "acme engineering", "sharedItems": 0}

    agents.with_client(era, agents.token(*ALL), work)


@pytest.mark.parametrize("era", ERAS)
def test_names_are_percent_encoded_and_unknown_ones_are_empty(
    agents: Place, era: ConnectMode
) -> None:
    async def work(client: Client) -> None:
        found = {uri for uri in await listed(client) if uri.startswith("agentmemory:")}
        assert found == ADDRESSES - {
            "agentmemory://project/my%20api%2Fv2/profile",
            "agentmemory://project/my%20api%2Fv2/recent",
        } | {
            "agentmemory://project/v2/profile",
            "agentmemory://project/v2/recent",
        }
        odd = await read(client, "agentmemory://project/C%3A%5Cwork%5Cmy%20api%2Fv2/profile")
        assert odd["sessionCount"] == 1
        nothing = await read(client, "agentmemory://project/no%20such/profile")
        assert (nothing["project"], nothing["sessionCount"]) == ("no such", 0)
        assert await read(client, "agentmemory://project/no%20such/recent") == []
        team = await read(client, "agentmemory://team/others/profile")
        assert team == {"teamId": "others", "sharedItems": 0}
        for uri in ("agentmemory://status/", "agentmemory://project//profile", "agentmemory://x"):
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource(uri)

    agents.with_client(era, agents.token(*ALL), work)


@pytest.mark.parametrize("era", ERAS)
def test_what_shows_chats_needs_the_permission_for_chats(agents: Place, era: ConnectMode) -> None:
    async def work(client: Client) -> None:
        uris = {uri for uri in await listed(client) if uri.startswith("agentmemory:")}
        assert uris == {
            "agentmemory://status",
            "agentmemory://memories/latest",
            "agentmemory://graph/stats",
            "agentmemory://team/acme%20engineering/profile",
        }
        await read(client, "agentmemory://status")
        with pytest.raises(Exception):  # noqa: B017, PT011 - a refusal of the transport
            await client.read_resource("agentmemory://project/loom/profile")

    agents.with_client(era, agents.token("memory:read"), work)


@pytest.mark.parametrize("era", ERAS)
def test_the_team_shares_and_reads(agents: Place, era: ConnectMode) -> None:
    async def work(client: Client) -> None:
        async def call(tool: str, **arguments: Any) -> Any:
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error, answer.content
            return answer.structured_content

        assert (await call("memory_team_share", memoryId=agents.ids["memory"]))["shared"]
        assert not (await call("memory_team_share", memoryId=agents.ids["memory"]))["shared"]
        await call("memory_team_share", text="The harbour API is frozen until May.")
        feed = await call("memory_team_feed", limit=1)
        assert [each["text"] for each in feed["items"]] == ["The harbour API is frozen until May."]
        assert feed["total"] == 2
        rest = await call("memory_team_feed", limit=1, cursor=feed["nextCursor"])
        assert [each["text"] for each in rest["items"]] == [
            "Prefer jose over jsonwebtoken for auth."
        ]
        assert rest["nextCursor"] == ""
        team = await read(client, "agentmemory://team/acme%20engineering/profile")
        assert team["sharedItems"] == 2
        for arguments in (
            {},
            {"memoryId": "none"},
            {"text": "x", "memoryId": "y"},
            {"text": " "},
            {"text": "The key is sk-ant-api03-" + "aB3dE5gH7j" * 9 + "-_xyAA"},
        ):
            answer = await client.call_tool("memory_team_share", arguments)
            assert answer.is_error, arguments

    agents.with_client(era, agents.token(*ALL), work)


def test_a_server_without_a_team_has_no_such_tools(
    caller_for: CallerFor, settings: Settings
) -> None:
    assert "memory_team_feed" in caller_for(*ALL).tools()
    assert {"memory_team_feed", "memory_team_share"} & set(caller_for("memory:read").tools()) == {
        "memory_team_feed"
    }


@pytest.mark.parametrize("era", ERAS)
def test_a_project_can_have_any_name_that_a_directory_can(agents: Place, era: ConnectMode) -> None:
    names = ["织" * 170, "x" * 500, "100%", "%2F", "a?b#c", "{name}", ".config", "na me\t"]

    async def work(client: Client) -> None:
        for name in names:
            for what in ("profile", "recent"):
                uri = f"agentmemory://project/{quote(name, safe='')}/{what}"
                answer = await read(client, uri)
                assert answer == [] or answer["project"] == name
        for broken in ("project//profile", "project/profile", "project/a/b/profile", "project/a"):
            with pytest.raises(MCPError):
                await read(client, f"agentmemory://{broken}")

    agents.with_client(era, agents.token(*ALL), work)
