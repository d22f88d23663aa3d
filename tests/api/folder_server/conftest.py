"""A folder with a key, and callers that hold it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.token_buckets import TokenBuckets
from backread.domain import Principal, Scope
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Account
from ingest import tasks
from recall.folders.catalogue import create_folder
from recall.folders.keys import make_key
from tests.api.mcp_server.calls import Caller, CallerFor
from tests.api.oauth.flow import new_flow

__all__ = ["tasks"]  # importing the module registers the jobs

PATH = "/mcp/memories"


@dataclass
class KeyCaller(Caller):
    """Holds a key to one folder."""

    path: str = PATH
    folder_id: str = ""
    key_id: str = ""

    def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a call that worked gives to programs."""
        answer = self.call(tool, arguments)
        assert not answer.get("isError"), answer["content"][0]["text"]
        return dict(answer["structuredContent"])

    def problem(self, tool: str, **arguments: Any) -> str:
        """What a call that did not work tells the model."""
        answer = self.call(tool, arguments)
        assert answer.get("isError"), answer
        return str(answer["content"][0]["text"])


KeyCallerFor = Callable[..., KeyCaller]


@pytest.fixture(autouse=True)
def _without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick machine makes more calls in a test than a client may in the same time."""
    monkeypatch.setattr(TokenBuckets, "take", lambda self, key: 0)


@pytest.fixture
def principal(owner: Account) -> Principal:
    return Principal(owner.id, scopes=frozenset(Scope))


@pytest.fixture
def holder_of(browser: TestClient, kernel: Kernel, principal: Principal) -> KeyCallerFor:
    """Makes a folder, unless one is named by its id, and somebody with a key to it."""

    def make(
        folder_name: str = "Research",
        *,
        folder_id: str = "",
        generate_embeddings: bool = True,
        vector_description: str = "",
        **key: Any,
    ) -> KeyCaller:
        with kernel.store.write() as session:
            if not folder_id:
                folder_id = create_folder(
                    session,
                    principal,
                    folder_name,
                    generate_embeddings=generate_embeddings,
                    vector_description=vector_description,
                ).id
            row, text = make_key(session, principal, folder_id, name="Robot", **key)
        return KeyCaller(browser, text, folder_id=folder_id, key_id=row.id)

    return make


@pytest.fixture
def holder(holder_of: KeyCallerFor) -> KeyCaller:
    return holder_of()


@pytest.fixture
def indexed(kernel: Kernel) -> Callable[[], None]:
    """Does the background work that waits."""

    def work() -> None:
        run_pending(kernel)

    return work


@pytest.fixture
def caller_for(signed_in: TestClient) -> CallerFor:
    """Makes a caller of the recall server, with the named scopes."""

    def make(*scopes: str) -> Caller:
        token = new_flow(signed_in).tokens(scopes=list(scopes))["access_token"]
        return Caller(signed_in, token)

    return make
