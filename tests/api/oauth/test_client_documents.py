"""Clients that name a document about themselves instead of registering."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import func, select
from starlette.testclient import TestClient

from api.app import create_app
from api.oauth.client_documents import ClientDocuments
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, OAuthClient
from tests.api.oauth.documents import DocumentServer, document_server
from tests.api.oauth.flow import Flow, answered
from tests.api.web.pages import text_of

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

METADATA = "/.well-known/oauth-authorization-server"
FLAG = "client_id_metadata_document_supported"


@pytest.fixture
def documents() -> Iterator[DocumentServer]:
    with document_server() as server:
        yield server


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"client_documents": "on"})


@pytest.fixture
def app(settings: Settings, documents: DocumentServer) -> FastAPI:
    app = create_app(settings)
    app.state.client_documents = ClientDocuments(settings, documents.fetcher())
    return app


def flow(browser: TestClient, client_id: str, port: int = 51234) -> Flow:
    return Flow(browser, client_id, redirect_uri=f"http://127.0.0.1:{port}/callback")


def clients(kernel: Kernel) -> int:
    with kernel.store.read() as session:
        return session.scalar(select(func.count()).select_from(OAuthClient)) or 0


def test_c28_a_client_signs_in_with_its_document_and_calls_a_tool(
    signed_in: TestClient, documents: DocumentServer
) -> None:
    """Its redirect address names no port; each sign-in comes from another one (RFC 8252 §7.3)."""
    client_id = documents.describe()
    for port in (51234, 40001):
        tokens = flow(signed_in, client_id, port).tokens()
        answer = signed_in.post(
            "/api/mcp/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={
                "Authorization": f"Bearer {tokens['access_token']}",
                "Accept": "application/json, text/event-stream",
            },
        )
        assert answer.status_code == 200, answer.text
        assert answer.json()["result"]["tools"]


def test_c28_refreshing_and_revoking_need_no_secret(
    signed_in: TestClient, documents: DocumentServer
) -> None:
    trial = flow(signed_in, documents.describe())
    tokens = trial.tokens()
    renewed = trial.refresh(tokens["refresh_token"])
    assert renewed.status_code == 200, renewed.text
    gone = signed_in.post(
        "/revoke", data={"token": renewed.json()["refresh_token"], "client_id": trial.client_id}
    )
    assert gone.status_code == 200
    assert trial.refresh(renewed.json()["refresh_token"]).status_code == 400


def test_the_consent_page_says_whose_word_the_description_is(
    signed_in: TestClient, documents: DocumentServer
) -> None:
    page = text_of(flow(signed_in, documents.describe()).authorize().text)
    assert "Trial Tool" in page
    assert f"The client is described by tool.example:{documents.port}" in page
    assert "runs on your own computer" in page


def test_somebody_signed_out_makes_this_server_fetch_nothing(
    browser: TestClient, owner: Account, kernel: Kernel, documents: DocumentServer
) -> None:
    trial = flow(browser, documents.describe())
    for _ in range(20):
        answer = trial.authorize()
        assert answer.headers["location"].startswith("/sign-in?next=")
        browser.head("/authorize", params=trial.query())
    assert documents.requests == []
    assert clients(kernel) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://tool.example/other.json"},
        {"client_id": None},
        {"client_name": None},
        {"client_name": ""},
        {"client_name": 7},
        {"redirect_uris": None},
        {"redirect_uris": []},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": ["http://tool.example/callback"]},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"response_types": ["token"]},
    ],
    ids=str,
)
def test_a_document_that_cannot_be_relied_on_is_refused_on_a_page(
    signed_in: TestClient, kernel: Kernel, documents: DocumentServer, changes: dict[str, Any]
) -> None:
    answer = flow(signed_in, documents.describe(**changes)).authorize()
    assert answer.status_code == 400
    assert "describes itself in a document that cannot be used" in text_of(answer.text)
    assert clients(kernel) == 0


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"[" * 60_000, b"\xff\xfe"])
def test_a_document_that_is_no_object_is_refused_on_a_page(
    signed_in: TestClient, documents: DocumentServer, body: bytes
) -> None:
    documents.answers["/client.json"] = (200, {"Content-Type": "application/json"}, body)
    answer = flow(signed_in, documents.url()).authorize()
    assert answer.status_code == 400
    assert "describes itself" in text_of(answer.text)


def test_a_redirect_that_the_document_does_not_name_is_refused_on_a_page(
    signed_in: TestClient, documents: DocumentServer
) -> None:
    trial = flow(signed_in, documents.describe())
    answer = trial.authorize(redirect_uri="http://127.0.0.1:51234/elsewhere")
    assert answer.status_code == 400
    assert "has not registered" in text_of(answer.text)


def test_a_document_is_kept_for_as_long_as_its_server_says(
    signed_in: TestClient, documents: DocumentServer
) -> None:
    client_id = documents.describe(cache="public, max-age=7200")
    for _ in range(3):
        assert flow(signed_in, client_id).authorize().status_code == 200
    assert documents.requests == ["/client.json"]


def _age(kernel: Kernel, client_id: str, by: timedelta) -> None:
    with kernel.store.write() as session:
        client = session.get(OAuthClient, client_id)
        assert client is not None
        moment = (utcnow() - by).isoformat()
        client.metadata_ = client.metadata_ | {
            "document_fetched_at": moment,
            "document_fresh_until": moment,
        }


def test_a_document_that_changed_counts_once_it_is_not_fresh(
    signed_in: TestClient, kernel: Kernel, documents: DocumentServer
) -> None:
    client_id = documents.describe()
    flow(signed_in, client_id).tokens()
    documents.describe(client_name="Renamed Tool", redirect_uris=["https://tool.example/back"])
    _age(kernel, client_id, timedelta(hours=2))
    assert flow(signed_in, client_id).authorize().status_code == 400
    renamed = Flow(signed_in, client_id, redirect_uri="https://tool.example/back")
    assert "Renamed Tool" in renamed.authorize().text


@pytest.mark.parametrize(("hours", "status"), [(2, 200), (25, 400)])
def test_a_document_whose_server_is_away_serves_for_a_day(
    signed_in: TestClient, kernel: Kernel, documents: DocumentServer, hours: int, status: int
) -> None:
    client_id = documents.describe()
    flow(signed_in, client_id).tokens()
    documents.answers.clear()
    _age(kernel, client_id, timedelta(hours=hours))
    assert flow(signed_in, client_id).authorize().status_code == status


def test_a_document_that_turned_bad_does_not_serve_any_longer(
    signed_in: TestClient, kernel: Kernel, documents: DocumentServer
) -> None:
    client_id = documents.describe()
    flow(signed_in, client_id).tokens()
    documents.describe(client_id="https://evil.example/client.json")
    _age(kernel, client_id, timedelta(hours=2))
    assert flow(signed_in, client_id).authorize().status_code == 400


def test_documents_are_named_in_the_metadata_when_they_are_on(browser: TestClient) -> None:
    assert browser.get(METADATA).json()[FLAG] is True


def test_with_documents_off_an_address_is_an_unknown_client(
    signed_in: TestClient, app: FastAPI, settings: Settings, documents: DocumentServer
) -> None:
    off = settings.model_copy(update={"client_documents": "off"})
    app.state.client_documents = ClientDocuments(off, documents.fetcher())
    assert FLAG not in signed_in.get(METADATA).json()
    answer = flow(signed_in, documents.describe()).authorize()
    assert answer.status_code == 400
    assert "is not registered" in text_of(answer.text)
    assert documents.requests == []


def test_a_document_with_a_denied_consent_redirects_with_an_error(
    signed_in: TestClient, documents: DocumentServer
) -> None:
    trial = flow(signed_in, documents.describe())
    answer = trial.consent(trial.authorize(), decision="deny")
    assert answered(answer)["error"] == "access_denied"


def test_documents_are_offered_once_this_server_could_fetch_one(
    settings: Settings, documents: DocumentServer
) -> None:
    auto = settings.model_copy(
        update={"client_documents": "auto", "client_documents_probe_url": documents.describe()}
    )
    tested = ClientDocuments(auto, documents.fetcher())
    assert not tested.is_offered
    asyncio.run(tested.run_self_test())
    assert tested.is_offered
