from typing import Any

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account, OAuthCode, OAuthConsent, OAuthGrant
from tests.api.oauth.flow import answered, form_fields, new_flow

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def rows(kernel: Kernel) -> int:
    with kernel.store.read() as session:
        return sum(
            session.scalar(select(func.count()).select_from(table)) or 0
            for table in (OAuthConsent, OAuthCode, OAuthGrant)
        )


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_asking_without_a_sign_in_stores_nothing(
    browser: TestClient, kernel: Kernel, owner: Account, method: str
) -> None:
    flow = new_flow(browser)
    for _ in range(20):
        browser.request(method, "/authorize", params=flow.query())
    assert rows(kernel) == 0


def test_head_stores_nothing_when_signed_in_either(signed_in: TestClient, kernel: Kernel) -> None:
    flow = new_flow(signed_in)
    assert signed_in.head("/authorize", params=flow.query()).status_code == 200
    assert rows(kernel) == 0


def test_somebody_signed_out_is_sent_to_sign_in_and_back(
    browser: TestClient, owner: Account
) -> None:
    flow = new_flow(browser)
    answer = flow.authorize()
    assert answer.status_code == 303
    target = answer.headers["location"]
    assert target.startswith("/sign-in?next=%2Fauthorize%3F")
    assert "evil" not in target


def test_without_an_owner_the_server_is_set_up_first(browser: TestClient) -> None:
    assert new_flow(browser).authorize().headers["location"] == "/setup"


def test_allowing_redirects_with_code_state_and_issuer(
    signed_in: TestClient, settings: Settings
) -> None:
    flow = new_flow(signed_in)
    answer = flow.consent(flow.authorize())
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"{flow.redirect_uri}?")
    params = answered(answer)
    assert set(params) == {"code", "state", "iss"}
    assert params["state"] == flow.state
    assert params["iss"] == settings.origin


def test_a_query_that_the_redirect_address_has_is_kept(signed_in: TestClient) -> None:
    uri = "https://client.example/cb?tenant=7"
    flow = new_flow(signed_in, redirect_uris=[uri])
    location = flow.consent(flow.authorize()).headers["location"]
    assert location.startswith(f"{uri}&code=")


def test_private_use_schemes_get_their_answer(signed_in: TestClient) -> None:
    uri = "cursor://anysphere.cursor-mcp/oauth/callback"
    flow = new_flow(signed_in, redirect_uris=[uri])
    assert flow.consent(flow.authorize()).headers["location"].startswith(f"{uri}?code=")


@pytest.mark.parametrize("scope", [None, "", " offline_access", "offline_access"])
def test_c09_no_scope_means_all_of_them(signed_in: TestClient, scope: str | None) -> None:
    page = new_flow(signed_in).authorize(scope=scope)
    assert len(form_fields(page.text)["scope"]) == 3


def test_c09_unknown_scopes_are_dropped(signed_in: TestClient) -> None:
    page = new_flow(signed_in).authorize(scope="openid  memory:read profile")
    assert form_fields(page.text)["scope"] == ["memory:read"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": "A" * 44}, "invalid_request"),
        ({"code_challenge": "A" * 42 + "="}, "invalid_request"),
        ({"code_challenge": "A" * 42 + "!"}, "invalid_request"),
        ({"scope": "nothing known"}, "invalid_scope"),
        ({"resource": "https://evil.example/api/mcp/mcp"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:8787/mcp/mcp"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:8787"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:8787/api/mcp/mcp?x=1"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:8787/api/mcp/mcp#x"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:9999/api/mcp/mcp"}, "invalid_target"),
        ({"resource": "https://127.0.0.1:8787/api/mcp/mcp"}, "invalid_target"),
        ({"resource": "not an address"}, "invalid_target"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"request_uri": "https://evil.example/r"}, "request_not_supported"),
        ({"request": "ey.J.x"}, "request_not_supported"),
        ({"prompt": "none"}, "interaction_required"),
        ({"scope": ["memory:read", "memory:write"]}, "invalid_request"),
        ({"code_challenge_method": ["S256", "plain"]}, "invalid_request"),
        ({"state": ["a", "b"]}, "invalid_request"),
    ],
)
def test_bad_requests_of_known_clients_are_answered_to_the_client(
    signed_in: TestClient,
    settings: Settings,
    kernel: Kernel,
    changes: dict[str, Any],
    error: str,
) -> None:
    flow = new_flow(signed_in)
    answer = flow.authorize(**changes)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"{flow.redirect_uri}?")
    params = answered(answer)
    assert params["error"] == error
    assert params["iss"] == settings.origin  # RFC 9207: on errors too
    assert params["error_description"]
    assert rows(kernel) == 0


@pytest.mark.parametrize(
    "resource",
    [
        None,
        "http://127.0.0.1:8787/api/mcp/mcp",
        "http://127.0.0.1:8787/api/mcp/mcp/",
        "HTTP://127.0.0.1:8787/api/mcp/mcp",
        "http://127.0.0.1:8787/api/mcp/sse",
        ["http://127.0.0.1:8787/api/mcp/mcp", "http://127.0.0.1:8787/api/mcp/mcp/"],
    ],
)
def test_c02_our_own_address_is_accepted_in_every_spelling(
    signed_in: TestClient, resource: str | list[str] | None
) -> None:
    assert new_flow(signed_in).authorize(resource=resource).status_code == 200


@pytest.mark.parametrize(
    "client_id", [None, "", "brc_unknown", "https://client.example/metadata.json", "x" * 600, "'--"]
)
def test_c14_an_unknown_client_gets_a_page_that_helps_and_no_redirect(
    signed_in: TestClient, client_id: str | None
) -> None:
    flow = new_flow(signed_in)
    answer = flow.authorize(client_id=client_id)
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert answer.headers["content-type"].startswith("text/html")
    assert "add it again" in answer.text


HTTPS = "https://client.example/oauth/cb"
LOOPBACK = "http://127.0.0.1:33418/callback"
TRICKS = [
    (HTTPS, "https://client.example/oauth/cb/"),
    (HTTPS, "https://client.example/oauth/CB"),
    (HTTPS, "https://CLIENT.example/oauth/cb"),
    (HTTPS, "HTTPS://client.example/oauth/cb"),
    (HTTPS, "http://client.example/oauth/cb"),
    (HTTPS, "https://client.example:443/oauth/cb"),
    (HTTPS, "https://client.example:8443/oauth/cb"),
    (HTTPS, "https://client.example./oauth/cb"),
    (HTTPS, "https://client.example/oauth/cb?x=1"),
    (HTTPS, "https://client.example/oauth/cb?"),
    (HTTPS, "https://client.example/oauth/cb#x"),
    (HTTPS, "https://client.example/oauth/../oauth/cb"),
    (HTTPS, "https://client.example/oauth/./cb"),
    (HTTPS, "https://client.example//oauth/cb"),
    (HTTPS, "https://client.example/oauth%2fcb"),
    (HTTPS, "https://client.example/oauth/%63b"),
    (HTTPS, "https://client.example/oauth/cb%00"),
    (HTTPS, "https://client.example/oauth/cb%0d%0aX: y"),
    (HTTPS, "https://client.example/oauth/cb\n"),
    (HTTPS, " https://client.example/oauth/cb"),
    (HTTPS, "https://client.example\\oauth\\cb"),
    (HTTPS, "https://client.example@evil.example/oauth/cb"),
    (HTTPS, "https://user@client.example/oauth/cb"),
    (HTTPS, "https://evil.example/https://client.example/oauth/cb"),
    (HTTPS, "https://evil.example/?u=https://client.example/oauth/cb"),
    (HTTPS, "https://client.example.evil.example/oauth/cb"),
    (HTTPS, "https://evilclient.example/oauth/cb"),
    (HTTPS, "https://sub.client.example/oauth/cb"),
    (HTTPS, "https://cl\u0456ent.example/oauth/cb"),
    (HTTPS, "https://client.example/oauth/cbx"),
    (HTTPS, "//client.example/oauth/cb"),
    (HTTPS, "/oauth/cb"),
    (HTTPS, "javascript:alert(1)"),
    (HTTPS, "data:text/html,x"),
    (HTTPS, LOOPBACK),
    (HTTPS, "https://client.example/oauth/cb;x"),
    (HTTPS, "https:client.example/oauth/cb"),
    (HTTPS, "https:/client.example/oauth/cb"),
    (HTTPS, "https://[::1]/oauth/cb"),
    (LOOPBACK, "http://localhost:33418/callback"),
    (LOOPBACK, "http://127.0.0.2:33418/callback"),
    (LOOPBACK, "http://127.1:33418/callback"),
    (LOOPBACK, "http://2130706433:33418/callback"),
    (LOOPBACK, "http://0x7f.0.0.1:33418/callback"),
    (LOOPBACK, "http://[::1]:33418/callback"),
    (LOOPBACK, "http://[::ffff:127.0.0.1]:33418/callback"),
    (LOOPBACK, "https://127.0.0.1:33418/callback"),
    (LOOPBACK, "http://127.0.0.1:33418/callback/"),
    (LOOPBACK, "http://127.0.0.1:33418/callback?x=1"),
    (LOOPBACK, "http://127.0.0.1:33418/Callback"),
    (LOOPBACK, "http://127.0.0.1:33418/callback#x"),
    (LOOPBACK, "http://127.0.0.1:99999/callback"),
    (LOOPBACK, "http://127.0.0.1:x/callback"),
    (LOOPBACK, "http://127.0.0.1:33418@evil.example/callback"),
    (LOOPBACK, "http://evil.example:33418/callback"),
    (LOOPBACK, "http://127.0.0.1.evil.example:33418/callback"),
    (LOOPBACK, "http://127.0.0.1:33418/../callback"),
    (LOOPBACK, "http://user@127.0.0.1:33418/callback"),
    (LOOPBACK, "HTTP://127.0.0.1:33418/callbacK"),
    ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor://evil/oauth/callback"),
    ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp/oauth"),
    (
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "Cursor://anysphere.cursor-mcp/oauth/callback",
    ),
]


def test_a_redirect_address_that_was_not_registered_is_never_followed(
    signed_in: TestClient, kernel: Kernel
) -> None:
    changes: list[dict[str, str]] = [{}, {"response_type": "token"}, {"scope": "unknown"}]
    for registered, requested in TRICKS:
        flow = new_flow(signed_in, redirect_uris=[registered])
        for change in changes:
            answer = flow.authorize(redirect_uri=requested, **change)
            assert answer.status_code == 400, requested
            assert "location" not in answer.headers, requested
    assert rows(kernel) == 0


def test_two_redirect_addresses_or_two_clients_in_one_request_are_refused(
    signed_in: TestClient,
) -> None:
    flow = new_flow(signed_in)
    for name, value in (
        ("redirect_uri", [flow.redirect_uri, "https://evil.example/"]),
        ("client_id", [flow.client_id, flow.client_id]),
    ):
        answer = flow.authorize(**{name: value})
        assert answer.status_code == 400
        assert "location" not in answer.headers


@pytest.mark.parametrize(
    ("registered", "requested"),
    [
        ("http://127.0.0.1:33418/callback", "http://127.0.0.1:54321/callback"),
        ("http://127.0.0.1/callback", "http://127.0.0.1:54321/callback"),
        ("http://127.0.0.1:33418/callback", "http://127.0.0.1/callback"),
        ("http://localhost/oauth/callback", "http://localhost:1/oauth/callback"),
        ("http://[::1]:5000/cb", "http://[::1]:6000/cb"),
        ("http://[::1]/cb", "http://[::1]:6000/cb"),
    ],
)
def test_c06_the_port_of_a_loopback_address_may_differ(
    signed_in: TestClient, registered: str, requested: str
) -> None:
    flow = new_flow(signed_in, redirect_uris=[registered])
    flow.redirect_uri = requested
    location = flow.consent(flow.authorize()).headers["location"]
    assert location.startswith(f"{requested}?code=")
    assert flow.exchange(answered(flow.consent(flow.authorize()))["code"]).status_code == 200


def test_the_only_registered_address_need_not_be_repeated(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    answer = flow.consent(flow.authorize(redirect_uri=None))
    assert answer.headers["location"].startswith(flow.redirect_uri)
    code = answered(answer)["code"]
    assert flow.exchange(code, redirect_uri=None).status_code == 200
