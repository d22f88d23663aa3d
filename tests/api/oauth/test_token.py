import base64
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Account, OAuthCode, OAuthGrant, OAuthToken
from tests.api.oauth.flow import Flow, is_good, new_flow, register

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def test_answers_with_tokens_are_not_to_be_stored(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    assert flow.exchange(flow.code()).headers["cache-control"] == "no-store"


def test_tokens_are_stored_as_hashes(signed_in: TestClient, kernel: Kernel) -> None:
    body = new_flow(signed_in).tokens()
    with kernel.store.read() as session:
        stored = set(session.scalars(select(OAuthToken.token_hash)))
    assert len(stored) == 2
    assert not stored & {body["access_token"], body["refresh_token"]}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"code_verifier": "a" * 43}, "invalid_grant"),
        ({"code_verifier": "a" * 42}, "invalid_grant"),
        ({"code_verifier": "a" * 129}, "invalid_grant"),
        ({"code_verifier": "ä" * 43}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:1/callback"}, "invalid_grant"),
        ({"redirect_uri": "https://evil.example/"}, "invalid_grant"),
        ({"resource": "https://evil.example/api/mcp/mcp"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:8787/mcp"}, "invalid_target"),
        ({"code": None}, "invalid_request"),
        ({"code": "bro_unknown"}, "invalid_grant"),
        ({"grant_type": None}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}, "unsupported_grant_type"),
        ({"code": ["a", "b"]}, "invalid_request"),
    ],
)
def test_bad_exchanges_are_refused_and_leave_the_code_good(
    signed_in: TestClient, changes: dict[str, Any], error: str
) -> None:
    flow = new_flow(signed_in)
    code = flow.code()
    answer = flow.exchange(code, **changes)
    assert answer.status_code == 400
    assert answer.json()["error"] == error
    assert flow.exchange(code).status_code == 200


def test_a_challenge_sent_as_verifier_is_refused(signed_in: TestClient) -> None:
    """What the `plain` method would accept."""
    flow = new_flow(signed_in)
    answer = flow.exchange(flow.code(), code_verifier=flow.query()["code_challenge"])
    assert answer.json()["error"] == "invalid_grant"


def test_c11_a_verifier_may_hold_every_unreserved_character(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    flow.verifier = "~._-" + "aZ09" * 12
    assert flow.tokens()["access_token"]


def test_a_code_is_good_for_sixty_seconds(signed_in: TestClient, kernel: Kernel) -> None:
    flow = new_flow(signed_in)
    code = flow.code()
    with kernel.store.write() as session:
        stored = session.scalars(select(OAuthCode)).one()
        assert stored.expires_at - utcnow() <= timedelta(seconds=60)
        stored.expires_at = utcnow() - timedelta(seconds=1)
    assert flow.exchange(code).json()["error"] == "invalid_grant"


def test_a_code_of_another_client_is_refused_and_stays_good(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    code = flow.code()
    thief = register(signed_in, client_name="Thief")
    answer = flow.exchange(code, client_id=thief["client_id"])
    assert answer.json()["error"] == "invalid_grant"
    assert flow.exchange(code).status_code == 200


@pytest.mark.parametrize("grant_type", ["authorization_code", "refresh_token", "nonsense"])
def test_c14_an_unknown_client_gets_401_invalid_client(
    signed_in: TestClient, grant_type: str
) -> None:
    data = {
        "grant_type": grant_type,
        "client_id": "brc_forgotten",
        "code": "x",
        "refresh_token": "y",
    }
    answer = signed_in.post("/token", data=data)
    assert answer.status_code == 401
    assert answer.json()["error"] == "invalid_client"
    assert "www-authenticate" in answer.headers


@pytest.mark.parametrize("registered", ["client_secret_post", "client_secret_basic"])
@pytest.mark.parametrize("used", ["client_secret_post", "client_secret_basic"])
def test_c08_both_ways_to_present_a_secret_work(
    signed_in: TestClient, registered: str, used: str
) -> None:
    client = register(signed_in, token_endpoint_auth_method=registered)
    flow = Flow(signed_in, client["client_id"])
    data = {
        "grant_type": "authorization_code",
        "code": flow.code(),
        "redirect_uri": flow.redirect_uri,
        "code_verifier": flow.verifier,
    }
    headers = {}
    if used == "client_secret_post":
        data |= {"client_id": client["client_id"], "client_secret": client["client_secret"]}
    else:
        pair = f"{quote(client['client_id'])}:{quote(client['client_secret'])}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    assert signed_in.post("/token", data=data, headers=headers).status_code == 200


@pytest.mark.parametrize("secret", [None, "", "wrong"])
def test_a_confidential_client_without_its_secret_is_refused(
    signed_in: TestClient, secret: str | None
) -> None:
    client = register(signed_in, token_endpoint_auth_method="client_secret_post")
    flow = Flow(signed_in, client["client_id"])
    code = flow.code()
    answer = flow.exchange(code, client_secret=secret)
    assert answer.status_code == 401
    assert answer.json()["error"] == "invalid_client"
    assert flow.exchange(code, client_secret=client["client_secret"]).status_code == 200


@pytest.mark.parametrize(
    "header", ["Basic !!!", "Basic", "Basic " + base64.b64encode(b"\xff\xfe").decode()]
)
def test_unreadable_credentials_are_refused(signed_in: TestClient, header: str) -> None:
    answer = signed_in.post(
        "/token", data={"grant_type": "refresh_token"}, headers={"Authorization": header}
    )
    assert answer.status_code == 401
    assert answer.json()["error"] == "invalid_client"


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b'{"grant_type": "refresh_token"}', "application/json"),
        (b"grant_type=refresh_token", "text/plain"),
        (b"grant_type=%ff%fe", "application/x-www-form-urlencoded"),
        (b"a=1&" * 100, "application/x-www-form-urlencoded"),
        (b"\xff", "application/x-www-form-urlencoded"),
    ],
)
def test_bodies_of_another_kind_are_an_invalid_request(
    browser: TestClient, content: bytes, content_type: str
) -> None:
    answer = browser.post("/token", content=content, headers={"Content-Type": content_type})
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"resource": "http://127.0.0.1:8787/api/mcp/mcp"},
        {"resource": "http://127.0.0.1:8787/api/mcp/mcp/"},
        {"scope": "memory:read"},
        {"scope": "offline_access"},
        {"scope": ""},
        {"client_id": None},
    ],
)
def test_c11_c13_refresh_works_with_and_without_extras_and_keeps_the_scope(
    signed_in: TestClient, changes: dict[str, Any]
) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    answer = flow.refresh(first["refresh_token"], **changes)
    assert answer.status_code == 200, answer.text
    assert answer.json()["scope"] == first["scope"]
    assert is_good(signed_in, answer.json()["access_token"])


def test_refresh_for_another_resource_is_refused(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    answer = flow.refresh(first["refresh_token"], resource="https://evil.example/")
    assert answer.json()["error"] == "invalid_target"
    assert flow.refresh(first["refresh_token"]).status_code == 200


def test_another_client_cannot_refresh(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    thief = register(signed_in, client_name="Thief")
    answer = flow.refresh(first["refresh_token"], client_id=thief["client_id"])
    assert answer.json()["error"] == "invalid_grant"


def test_an_access_token_is_no_refresh_token_and_the_other_way_round(
    signed_in: TestClient,
) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    assert flow.refresh(first["access_token"]).json()["error"] == "invalid_grant"
    assert not is_good(signed_in, first["refresh_token"])


def test_c40_a_disabled_accounts_tokens_stop_at_once(signed_in: TestClient, kernel: Kernel) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=utcnow()))
    assert not is_good(signed_in, first["access_token"])
    assert flow.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"


def test_c40_a_code_of_an_account_that_was_disabled_meanwhile_gives_no_tokens(
    signed_in: TestClient, kernel: Kernel
) -> None:
    flow = new_flow(signed_in)
    code = flow.code()
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=utcnow()))
    assert flow.exchange(code).json()["error"] == "invalid_grant"
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=None))
    assert flow.exchange(code).status_code == 200


def test_revocation_needs_a_known_client_and_a_token(signed_in: TestClient) -> None:
    client = register(signed_in)
    assert signed_in.post("/revoke", data={"token": "x"}).status_code == 401
    missing = signed_in.post("/revoke", data={"client_id": client["client_id"]})
    assert missing.json()["error"] == "invalid_request"


def test_c41_every_issued_token_is_accepted_at_once_for_its_scopes(signed_in: TestClient) -> None:
    for scopes in (["memory:read"], ["memory:write"], ["chat-history:read"]):
        assert is_good(signed_in, new_flow(signed_in).tokens(scopes=scopes)["access_token"])


def test_c02_a_token_for_another_resource_is_not_accepted(
    signed_in: TestClient, kernel: Kernel
) -> None:
    body = new_flow(signed_in).tokens()
    with kernel.store.write() as session:
        session.execute(update(OAuthGrant).values(resource="http://127.0.0.1:8787/mcp"))
    assert not is_good(signed_in, body["access_token"])
