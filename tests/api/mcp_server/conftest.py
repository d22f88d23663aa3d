from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from backread.domain import Principal, Scope
from backread.settings import Settings
from backread.store.models import Account
from tests.api.mcp_server.calls import Caller, CallerFor
from tests.api.mcp_server.live_server import LiveServer, running
from tests.api.oauth.flow import new_flow


@pytest.fixture
def principal(owner: Account) -> Principal:
    """The owner, whose data the calls see."""
    return Principal(owner.id, scopes=frozenset(Scope))


@pytest.fixture
def caller_for(signed_in: TestClient) -> CallerFor:
    """Makes a caller whose token was granted the named scopes."""

    def make(*scopes: str) -> Caller:
        token = new_flow(signed_in).tokens(scopes=list(scopes))["access_token"]
        return Caller(signed_in, token)

    return make


@pytest.fixture
def caller(caller_for: CallerFor) -> Caller:
    """A caller that may do everything."""
    return caller_for("memory:read", "memory:write", "chat-history:read")


@pytest.fixture
def live(settings: Settings) -> Iterator[LiveServer]:
    """A web process on loopback, for what needs real connections."""
    with running(settings) as server:
        yield server
