from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from backread.settings import Settings
from tests.api.mcp_server.calls import Caller
from tests.api.mcp_server.live_server import LiveServer, running
from tests.api.oauth.flow import new_flow

NOTES = "/mcp"


def notes_address(browser: TestClient) -> str:
    return str(browser.base_url).rstrip("/") + NOTES


@pytest.fixture
def notes_caller_for(signed_in: TestClient) -> Callable[..., Caller]:
    """Makes a caller of the notes server whose token was granted the named scopes."""

    def make(*scopes: str) -> Caller:
        tokens = new_flow(signed_in).tokens(scopes=list(scopes), resource=notes_address(signed_in))
        return Caller(signed_in, tokens["access_token"], path=NOTES)

    return make


@pytest.fixture
def notes(notes_caller_for: Callable[..., Caller]) -> Caller:
    """A caller that may read and write notes."""
    return notes_caller_for("memory:read", "memory:write")


@pytest.fixture
def live(settings: Settings) -> Iterator[LiveServer]:
    """A web process on loopback, for what needs real connections."""
    with running(settings) as server:
        yield server


def done(answer: dict[str, Any]) -> dict[str, Any]:
    """The result of a call that worked."""
    assert not answer.get("isError"), answer
    return dict(answer["structuredContent"])


def refused(answer: dict[str, Any]) -> str:
    """What a call that did not work says."""
    assert answer.get("isError"), answer
    return str(answer["content"][0]["text"])
