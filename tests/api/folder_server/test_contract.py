"""The seven tools as the reference contract has them, over real HTTP with the MCP project's own
client, in both eras."""

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from sqlalchemy import select

from backread.domain import Principal
from backread.jobs import run_pending
from backread.settings import Settings
from backread.store.models import Account
from ingest import tasks
from recall.folders.catalogue import create_folder
from recall.folders.keys import make_key
from tests.api.mcp_server.live_server import LiveServer, running

__all__ = ["tasks"]  # importing the module registers the jobs

T = TypeVar("T")
ERAS: tuple[ConnectMode, ...] = ("legacy", "auto")
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

# Name: parameters with their type, those that are required, whether it only reads.
CONTRACT: dict[str, tuple[dict[str, str | None], set[str], bool]] = {
    "create_memory": (
        {
            "name": "string",
            "content": "string",
            "metadata": "object",
            "vector_description": "string",
        },
        {"name", "content"},
        False,
    ),
    "update_memory": (
        {
            "recordId": "string",
            "content": "string",
            "metadata": "object",
            "operation": "string",
            "vector_description": "string",
        },
        {"recordId"},
        False,
    ),
    "find_memory": ({"recordId": "string", "name": "string"}, set(), True),
    "query_memories": ({"name": "string", "metadata": "array", "cursor": "string"}, set(), True),
    "vector_search": (
        {"query": "string", "limit": "number", "similarity_threshold": "number"},
        {"query"},
        True,
    ),
    "get_propositions": ({"recordId": "string"}, {"recordId"}, True),
    "list_records": ({"metadata": "array", "cursor": "string"}, set(), True),
}


@dataclass
class Place:
    server: LiveServer
    key: str

    def with_client(self, era: ConnectMode, work: Callable[[Client], Awaitable[T]]) -> T:
        async def connected() -> T:
            headers = {"Authorization": f"Bearer {self.key}"}
            address = f"{self.server.origin}/mcp/memories"
            async with (
                httpx2.AsyncClient(headers=headers, timeout=30) as http,
                Client(streamable_http_client(address, http_client=http), mode=era) as client,
            ):
                return await work(client)

        return anyio.run(connected)

    def call(self, era: ConnectMode, tool: str, arguments: dict[str, Any]) -> Any:
        async def work(client: Client) -> Any:
            return await client.call_tool(tool, arguments)

        return self.with_client(era, work)


@pytest.fixture
def place(settings: Settings) -> Iterator[Place]:
    with running(settings) as server:
        kernel = server.app.state.kernel
        with kernel.store.write() as session:
            principal = Principal(str(session.scalars(select(Account.id)).one()))
            folder = create_folder(session, principal, "Research")
            _, key = make_key(session, principal, folder.id, name="Robot")
        yield Place(server, key)


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_are_those_of_the_contract(place: Place, era: ConnectMode) -> None:
    async def work(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in place.with_client(era, work)}
    assert list(tools) == list(CONTRACT)
    for name, (parameters, required, is_read_only) in CONTRACT.items():
        schema = tools[name].input_schema
        assert {key: each.get("type") for key, each in schema["properties"].items()} == parameters
        assert set(schema.get("required", ())) == required
        assert tools[name].annotations is not None
        assert tools[name].annotations.read_only_hint is is_read_only
        assert tools[name].description
    search = tools["vector_search"].input_schema["properties"]
    assert (search["limit"]["default"], search["limit"]["maximum"]) == (10, 100)
    threshold = search["similarity_threshold"]
    assert (threshold["default"], threshold["minimum"], threshold["maximum"]) == (0.7, 0, 1)
    operation = tools["update_memory"].input_schema["properties"]["operation"]
    assert (operation["default"], operation["enum"]) == ("replace", ["replace", "append"])


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_works_through_a_real_client(place: Place, era: ConnectMode) -> None:
    def structured(tool: str, **arguments: Any) -> dict[str, Any]:
        answer = place.call(era, tool, arguments)
        assert not answer.is_error, answer.content
        return dict(answer.structured_content)

    fields = {"status": "active", "category": "billing"}
    made = structured(
        "create_memory", name="Invoices", content="Invoices go out on Monday.", metadata=fields
    )
    record = made["id"]
    structured(
        "update_memory", recordId=record, content="They are paid within a week.", operation="append"
    )
    run_pending(place.server.app.state.kernel)
    assert structured("find_memory", name="Invoices")["revision"] == 2
    # The reference's own example: active and billing.
    conditions = [{"key": "status", "value": "active"}, {"key": "category", "value": "billing"}]
    assert structured("query_memories", metadata=conditions)["total"] == 1
    found = structured("vector_search", query="when do invoices go out on Monday")["results"]
    assert found[0]["record_id"] == record
    facts = place.call(era, "get_propositions", {"recordId": record})
    assert json.loads(facts.content[0].text)[0] == "Invoices go out on Monday."
    listed = json.loads(place.call(era, "list_records", {}).content[0].text)
    assert [each["id"] for each in listed] == [record]
