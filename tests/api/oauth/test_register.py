from typing import Any

import pytest
from sqlalchemy import delete, func, select
from starlette.testclient import TestClient

from api.oauth import registration_room
from api.oauth.registration_room import RegistrationRoom
from backread.kernel import Kernel
from backread.store.models import OAuthClient, OAuthCode
from tests.api.oauth.flow import new_flow, register, registration

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

ALLOWED = [
    "https://claude.ai/api/mcp/auth_callback",
    "https://chatgpt.com/connector_platform_oauth_redirect",
    "http://127.0.0.1:33418/callback",
    "http://127.0.0.1/callback",
    "http://[::1]:5000/callback",
    "http://localhost:6276/oauth/callback",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "vscode://vscode.microsoft-authentication/callback",
    "com.example.app:/oauth2redirect",
]
REFUSED = [
    "javascript:alert(1)",
    "JavaScript://x/%0aalert(1)",
    "data:text/html,hi",
    "data://text/html",
    "file:///etc/passwd",
    "vbscript://x",
    "about:blank",
    "blob:https://x/y",
    "http://example.org/callback",
    "http://127.0.0.1.evil.example/",
    "http://0.0.0.0/callback",
    "https://user@host.example/cb",
    "https://user:pass@host.example/cb",
    "https://claude.ai@evil.example/cb",
    "https://host.example/cb#fragment",
    "https://*.example/cb",
    "https:///nohost",
    "https://",
    "//host.example/cb",
    "/callback",
    "host.example/cb",
    "https://host.example\\@evil.example/",
    "https://host.example/a b",
    "https://host.example/\n",
    "https://host.example:99999/",
    "https://host.example:port/",
    "https://hö.example/cb",
    "https://host%2eexample/cb",
    "myapp:callback",
    "",
    "https://host.example/" + "a" * 3000,
    "view-source:https://host.example/",
    "intent://scan/#Intent;scheme=zxing;end",
    "chrome-extension://abc/cb",
    "ws://host.example/",
]


def clients(kernel: Kernel) -> int:
    with kernel.store.read() as session:
        return session.scalar(select(func.count()).select_from(OAuthClient)) or 0


def test_c07_c31_redirect_addresses_that_real_clients_use_are_accepted(
    browser: TestClient,
) -> None:
    for uri in ALLOWED:
        assert register(browser, redirect_uris=[uri])["redirect_uris"] == [uri]


def test_c07_dangerous_redirect_addresses_are_refused(browser: TestClient) -> None:
    for uri in REFUSED:
        answer = browser.post("/register", json=registration(redirect_uris=[uri]))
        assert answer.status_code == 400, uri
        assert answer.json()["error"] == "invalid_redirect_uri", uri


def test_c07_one_bad_redirect_among_good_ones_refuses_all(browser: TestClient) -> None:
    uris = ["https://claude.ai/api/mcp/auth_callback", "javascript:alert(1)"]
    assert browser.post("/register", json=registration(redirect_uris=uris)).status_code == 400


@pytest.mark.parametrize("application_type", [None, "web", "native", "spaceship"])
def test_c07_application_type_follows_from_the_addresses(
    browser: TestClient, application_type: str | None
) -> None:
    native = register(
        browser,
        redirect_uris=["cursor://anysphere.cursor-mcp/oauth/callback"],
        application_type=application_type,
    )
    assert native["application_type"] == "native"


def test_c07_cursor_registers_with_its_three_addresses(browser: TestClient) -> None:
    uris = [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ]
    assert register(browser, redirect_uris=uris)["redirect_uris"] == uris


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic", None])
def test_c08_confidential_clients_get_a_secret_that_never_expires(
    browser: TestClient, method: str | None
) -> None:
    body = register(browser, token_endpoint_auth_method=method)
    assert body["token_endpoint_auth_method"] == method or "client_secret_basic"
    assert body["client_secret"]
    assert body["client_secret_expires_at"] == 0
    assert type(body["client_secret_expires_at"]) is int


def test_c08_public_clients_get_no_secret_and_no_null_fields(browser: TestClient) -> None:
    body = register(browser, client_uri="https://client.example", logo_uri=None)
    assert "client_secret" not in body
    assert None not in body.values()
    assert body["client_uri"] == "https://client.example"
    assert body["client_name"] == "Trial Client"


def test_c08_a_client_can_read_its_registration_and_nobody_else_can(browser: TestClient) -> None:
    body = register(browser)
    own = {"Authorization": f"Bearer {body['registration_access_token']}"}
    answer = browser.get(body["registration_client_uri"], headers=own)
    assert answer.status_code == 200
    assert answer.json()["client_id"] == body["client_id"]
    assert "registration_reader_hash" not in answer.json()
    foreign = browser.get(body["registration_client_uri"], headers={"Authorization": "Bearer x"})
    missing = browser.get("/register/brc_unknown", headers=own)
    assert foreign.status_code == missing.status_code == 401
    assert foreign.json() == missing.json()


@pytest.mark.parametrize("scope", [None, "", "offline_access", "everything", "memory:read"])
def test_c09_registration_never_fails_on_scope(browser: TestClient, scope: str | None) -> None:
    body = register(browser, scope=scope)
    assert "offline_access" in body["scope"].split()


def test_c28_unknown_grant_types_are_dropped_not_refused(browser: TestClient) -> None:
    device = "urn:ietf:params:oauth:grant-type:device_code"
    body = register(browser, grant_types=["authorization_code", device])
    assert body["grant_types"] == ["authorization_code", "refresh_token"]


def test_c15_registering_the_same_again_gives_the_same_client(
    browser: TestClient, kernel: Kernel
) -> None:
    first = register(browser)
    again = [register(browser)["client_id"] for _ in range(5)]
    assert set(again) == {first["client_id"]}
    assert clients(kernel) == 1
    assert register(browser, client_name="Another")["client_id"] != first["client_id"]


def test_c15_confidential_clients_do_not_share_a_registration(browser: TestClient) -> None:
    first = register(browser, token_endpoint_auth_method="client_secret_post")
    second = register(browser, token_endpoint_auth_method="client_secret_post")
    assert first["client_id"] != second["client_id"]


def test_c15_a_flood_stops_at_the_ceiling_and_says_when_to_come_back(
    browser: TestClient, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registration_room, "MOST_UNUSED_CLIENTS", 3)
    for number in range(3):
        register(browser, client_name=f"Flood {number}")
    answer = browser.post("/register", json=registration(client_name="One too many"))
    assert answer.status_code == 429
    assert answer.json()["error"] == "temporarily_unavailable"
    assert int(answer.headers["retry-after"]) > 0
    assert clients(kernel) == 3


def test_c15_a_flood_that_is_refused_does_not_wait_for_whoever_writes(
    browser: TestClient, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registration_room, "MOST_UNUSED_CLIENTS", 1)
    register(browser)
    assert browser.post("/register", json=registration(client_name="Two")).status_code == 429
    with kernel.store.write() as session:
        session.execute(delete(OAuthCode))  # holds the one lock for writing that SQLite has
        answer = browser.post("/register", json=registration(client_name="Three"))
    assert answer.status_code == 429


def test_c15_a_client_that_is_known_needs_no_room(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registration_room, "MOST_UNUSED_CLIENTS", 1)
    first = register(browser)
    assert browser.post("/register", json=registration(client_name="Two")).status_code == 429
    assert register(browser)["client_id"] == first["client_id"]


def test_c14_clients_with_a_grant_are_never_forgotten(
    signed_in: TestClient, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = new_flow(signed_in)
    flow.tokens()
    monkeypatch.setattr(registration_room, "MOST_UNUSED_CLIENTS", 1)
    monkeypatch.setattr(registration_room, "UNUSED_LIFE", -registration_room.UNUSED_LIFE)
    # As in a process that has just started: this one has looked before the limit was so low.
    monkeypatch.setattr(signed_in.app.state, "registration_room", RegistrationRoom())  # type: ignore[attr-defined]
    register(signed_in, client_name="Unused")
    register(signed_in, client_name="Newcomer")
    assert clients(kernel) == 2  # the granted one and the newcomer
    assert flow.authorize().status_code == 200


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "invalid_client_metadata"),
        (b"not json", "invalid_client_metadata"),
        (b"[]", "invalid_client_metadata"),
        (b"null", "invalid_client_metadata"),
        (b"[" * 5000, "invalid_client_metadata"),
        (b"{}", "invalid_redirect_uri"),
        (b'{"redirect_uris": []}', "invalid_redirect_uri"),
        (b'{"redirect_uris": "https://a.example/"}', "invalid_redirect_uri"),
        (b'{"redirect_uris": [7]}', "invalid_redirect_uri"),
        (
            b'{"redirect_uris": ["https://a.example/"], "token_endpoint_auth_method": "tls"}',
            "invalid_client_metadata",
        ),
        (
            b'{"redirect_uris": ["https://a.example/"], "response_types": ["token"]}',
            "invalid_client_metadata",
        ),
    ],
)
def test_unusable_registrations_are_refused_in_the_words_of_the_rfc(
    browser: TestClient, kernel: Kernel, body: bytes, error: str
) -> None:
    answer = browser.post("/register", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"] == error
    assert clients(kernel) == 0


def test_c15_a_body_over_64_kilobytes_is_refused(browser: TestClient) -> None:
    body: dict[str, Any] = registration(client_name="x" * 70_000)
    assert browser.post("/register", json=body).status_code == 413


def test_hostile_client_names_become_one_short_visible_line(browser: TestClient) -> None:
    name = "Nice\u202eevil\u200b\x07 \n\n<b>Client</b>" + "x" * 500
    kept = register(browser, client_name=name)["client_name"]
    assert kept.isprintable()
    assert len(kept) <= 200
    assert kept.startswith("Nice evil <b>Client</b>")
