"""Notices of changed resources, in the era that has them."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated
from sqlalchemy import select

from api.mcp_server import listening
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, OAuthGrant
from recall.memories import store_memory
from tests.api.mcp_server.contract.conftest import Place
from tests.api.mcp_server.live_server import running
from tests.conftest import new_principal

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

MODERN: ConnectMode = "auto"
STATUS, LATEST = "agentmemory://status", "agentmemory://memories/latest"
PROFILE = "agentmemory://project/loom/profile"


@pytest.fixture
def quiet(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A server that looks often."""
    monkeypatch.setattr(listening, "LOOK_SECONDS", 0.05)
    with running(settings) as server:
        with server.app.state.kernel.store.read() as session:
            account_id = str(session.scalars(select(Account.id)).one())
        yield Place(server, Principal(account_id, scopes=frozenset(Scope)), {})


def keep(kernel: Kernel, principal: Principal, text: str) -> Any:
    return lambda: store_memory(kernel, principal, text)


def test_a_change_is_told_to_who_watches_that_resource(quiet: Place) -> None:
    kernel = quiet.server.app.state.kernel

    async def work(client: Client) -> None:
        async with client.listen(resource_subscriptions=[STATUS, LATEST]) as stream:
            await anyio.to_thread.run_sync(keep(kernel, quiet.principal, "Ada prefers tea."))
            told = {(await anext(stream)).uri for _ in range(2)}  # type: ignore[union-attr]
            assert told == {STATUS, LATEST}
            (content,) = (await client.read_resource(STATUS)).contents
            assert '"memoryCount": 1' in content.text  # type: ignore[union-attr]

    quiet.with_client(MODERN, quiet.token("memory:read"), work)


def test_what_others_do_is_not_told(quiet: Place) -> None:
    kernel = quiet.server.app.state.kernel
    stranger = new_principal(kernel.store, "boris@example.org")

    async def work(client: Client) -> None:
        async with client.listen(resource_subscriptions=[STATUS]) as stream:
            await anyio.to_thread.run_sync(keep(kernel, stranger, "Boris prefers coffee."))
            await anyio.to_thread.run_sync(keep(kernel, quiet.principal, "Ada prefers tea."))
            assert await anext(stream) == ResourceUpdated(STATUS)
            (content,) = (await client.read_resource(STATUS)).contents
            assert '"memoryCount": 1' in content.text  # type: ignore[union-attr]

    quiet.with_client(MODERN, quiet.token("memory:read"), work)


def test_only_resources_that_the_grant_allows_are_watched(quiet: Place) -> None:
    async def work(client: Client) -> None:
        wanted = [STATUS, PROFILE, "agentmemory://nothing", "file:///etc/passwd"]
        async with client.listen(resource_subscriptions=wanted) as stream:
            assert stream.honored.resource_subscriptions == [STATUS]

    quiet.with_client(MODERN, quiet.token("memory:read"), work)


def test_a_stream_ends_with_its_grant(quiet: Place) -> None:
    kernel = quiet.server.app.state.kernel

    def revoke() -> None:
        with kernel.store.write() as session:
            for grant in session.scalars(select(OAuthGrant)):
                grant.revoked_at = utcnow()

    async def work(client: Client) -> None:
        async with client.listen(resource_subscriptions=[STATUS]) as stream:
            await anyio.to_thread.run_sync(revoke)
            with anyio.fail_after(20):
                assert [event async for event in stream] == []

    quiet.with_client(MODERN, quiet.token("memory:read"), work)


def test_a_stream_watches_a_limited_number_of_resources(quiet: Place) -> None:
    async def work(client: Client) -> None:
        many = [f"agentmemory://team/{number}/profile" for number in range(51)]
        with pytest.raises(MCPError, match="50"):
            async with client.listen(resource_subscriptions=many):
                pass

    quiet.with_client(MODERN, quiet.token("memory:read"), work)
