"""A server with a little of everything in it, and the MCP client that talks to it."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client

from backread.domain import Principal, Scope
from backread.jobs import run_pending
from ingest.documents.keeping import keep_body
from recall.memories import store_memory
from tests.api.mcp_server.live_server import LiveServer, running
from tests.api.oauth.flow import new_flow
from tests.recall.chats import GARDEN, keep

T = TypeVar("T")
ERAS: tuple[ConnectMode, ...] = ("legacy", "auto")


@dataclass
class Place:
    """One running server with a chat, a memory and a bucket. `ids` are what rows name in braces."""

    server: LiveServer
    principal: Principal
    ids: dict[str, str]

    def filled(self, value: Any) -> Any:
        """The value with the ids put in."""
        if isinstance(value, dict):
            return {key: self.filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.filled(each) for each in value]
        if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
            return self.ids[value[1:-1]]
        return value

    def token(self, *scopes: str) -> str:
        flow = new_flow(self.server.browser)
        return str(flow.tokens(scopes=list(scopes))["access_token"])

    def with_client(
        self, era: ConnectMode, token: str, work: Callable[[Client], Awaitable[T]]
    ) -> T:
        """What the MCP project's own client does over HTTP, connected in this era."""

        async def connected() -> T:
            headers = {"Authorization": f"Bearer {token}"}
            address = f"{self.server.origin}/api/mcp/mcp"
            async with (
                httpx2.AsyncClient(headers=headers, timeout=30) as http,
                Client(streamable_http_client(address, http_client=http), mode=era) as client,
            ):
                return await work(client)

        return anyio.run(connected)


@pytest.fixture
def place(settings: Any) -> Iterator[Place]:
    with running(settings) as server:
        kernel = server.app.state.kernel
        account_id = _account_of(server)
        principal = Principal(account_id, scopes=frozenset(Scope))
        (conversation,) = keep(kernel, principal, GARDEN)
        memory = store_memory(kernel, principal, "Ada prefers tea.")
        file = keep_body(kernel, principal, name="oven.md", body=b"# Warranty\n\nThree years.\n")
        ids = {
            "conversation": conversation,
            "memory": memory.memory_id,
            "bucket": str(memory.bucket_id),
            "file_bucket": str(file.bucket_id),
        }
        run_pending(kernel)
        ids["category"] = _category_in(kernel, principal, memory.bucket_id)
        yield Place(server, principal, ids)


def _account_of(server: LiveServer) -> str:
    from sqlalchemy import select

    from backread.store.models import Account

    with server.app.state.kernel.store.read() as session:
        return str(session.scalars(select(Account.id)).one())


def _category_in(kernel: Any, principal: Principal, bucket_id: int) -> str:
    """A category of the bucket, as the background work made it; "" while there is none."""
    from api.mcp_server.tools import TOOLS

    for tool in TOOLS:
        if tool.name == "list_bucket_categories":
            arguments = tool.arguments.model_validate({"bucketId": bucket_id})
            listed = tool.run(kernel, principal, arguments).result.model_dump(by_alias=True)
            for category in listed.get("categories", ()):
                return str(category["categoryId"])
    return ""
