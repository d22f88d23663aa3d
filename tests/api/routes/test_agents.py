from pathlib import Path

import pytest
from starlette.testclient import TestClient

from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account
from tests.api.conftest import sign_in
from tests.recall.agents.sessions import bring_sessions


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"graph_extraction_enabled": True, "team_id": "acme"})


@pytest.fixture
def script(signed_in: TestClient, kernel: Kernel, owner: Account, tmp_path: Path) -> TestClient:
    """The owner's browser, with agents' sessions imported."""
    bring_sessions(kernel, Principal(owner.id, scopes=frozenset(Scope)), tmp_path / "sessions")
    return with_form_token(signed_in)


def with_form_token(browser: TestClient) -> TestClient:
    page = browser.get("/folders").text
    token = page.partition('name="csrf-token" content="')[2].partition('"')[0]
    browser.headers["X-CSRF-Token"] = token
    return browser


def test_projects_and_the_graph_are_there_for_scripts(script: TestClient) -> None:
    projects = script.get("/api/v1/projects").json()["items"]
    assert [(each["name"], each["sessions"]) for each in projects] == [("kiln", 1), ("loom", 2)]
    profile = script.get("/api/v1/projects/profile", params={"name": "loom"}).json()
    assert profile["sessionCount"] == 2
    recent = script.get("/api/v1/projects/recent", params={"name": "/home/ada/loom"}).json()
    assert len(recent["items"]) == 2
    stats = script.get("/api/v1/graph").json()
    assert stats["nodesByType"]["file"] == 4
    nodes = script.get("/api/v1/graph/nodes", params={"type": "file", "limit": 1}).json()["items"]
    assert nodes == [{"type": "file", "name": "src/signer.ts", "count": 4, "sessions": 2}]
    edges = script.get("/api/v1/graph/edges", params={"type": "supersedes"}).json()["items"]
    assert [(each["source"], each["target"]) for each in edges] == [("jose", "jsonwebtoken")]
    named = {"type": "file", "name": "src/signer.ts"}
    assert len(script.get("/api/v1/graph/evidence", params=named).json()["items"]) == 2
    assert script.get("/api/v1/graph/nodes", params={"type": "colour"}).status_code == 400


def test_only_who_shared_an_item_takes_it_back(script: TestClient, kernel: Kernel) -> None:
    items = "/api/v1/team/items"
    shared = script.post(items, json={"text": "The API is frozen until May."})
    assert (shared.status_code, shared.json()["shared"]) == (201, True)
    (item,) = script.get(items).json()["items"]
    assert item["sharedBy"] == "Ada"
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash="unused", role="member")
        session.add(other)
    owner_cookies = dict(script.cookies)
    sign_in(script, kernel, other)
    with_form_token(script)
    assert len(script.get(items).json()["items"]) == 1
    assert script.delete(f"{items}/{item['id']}").status_code == 404
    script.cookies.clear()
    script.cookies.update(owner_cookies)
    with_form_token(script)
    assert script.delete(f"{items}/{item['id']}").status_code == 204
    assert script.get(items).json()["total"] == 0
