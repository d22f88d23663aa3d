"""How a grant lives and ends. On every database: rows are locked and rolled back here."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from sqlalchemy import update
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import OAuthGrant, OAuthToken
from tests.api.oauth.flow import is_good, new_flow, register


def age_refresh_tokens(kernel: Kernel, seconds: float) -> None:
    """Lets time pass for tokens that were rotated."""
    with kernel.store.write() as session:
        moment = utcnow() - timedelta(seconds=seconds)
        session.execute(
            update(OAuthToken)
            .where(OAuthToken.superseded_at.is_not(None))
            .values(superseded_at=moment)
        )


def test_a_code_becomes_tokens_that_work(signed_in: TestClient, settings: Settings) -> None:
    body = new_flow(signed_in).tokens()
    assert body["token_type"] == "Bearer"
    assert body["expires_in"] == settings.access_token_minutes * 60
    assert body["scope"] == "memory:read memory:write chat-history:read"
    assert is_good(signed_in, body["access_token"])


def test_a_code_used_twice_ends_the_grant_and_its_first_tokens(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    code = flow.code()
    first = flow.exchange(code).json()
    again = flow.exchange(code)
    assert again.status_code == 400
    assert again.json()["error"] == "invalid_grant"
    assert not is_good(signed_in, first["access_token"])
    assert flow.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"


def test_c12_twenty_parallel_refreshes_of_one_token_all_succeed(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(flow.refresh, [first["refresh_token"]] * 20))
    assert [answer.status_code for answer in answers] == [200] * 20
    children = [answer.json() for answer in answers]
    assert len({child["refresh_token"] for child in children}) == 20
    assert all(is_good(signed_in, child["access_token"]) for child in children)
    assert all(flow.refresh(child["refresh_token"]).status_code == 200 for child in children)


def test_c12_a_rotated_token_works_inside_the_grace_window(
    signed_in: TestClient, kernel: Kernel, settings: Settings
) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    flow.refresh(first["refresh_token"])
    age_refresh_tokens(kernel, settings.refresh_grace_seconds - 5)
    assert flow.refresh(first["refresh_token"]).status_code == 200


def test_c12_a_rotated_token_used_after_the_window_ends_the_whole_grant(
    signed_in: TestClient, kernel: Kernel, settings: Settings
) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    second = flow.refresh(first["refresh_token"]).json()
    age_refresh_tokens(kernel, settings.refresh_grace_seconds + 1)
    answer = flow.refresh(first["refresh_token"])
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_grant"
    assert not is_good(signed_in, second["access_token"])
    assert flow.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_refresh_token_ends_when_it_is_not_used(signed_in: TestClient, kernel: Kernel) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    with kernel.store.write() as session:
        session.execute(update(OAuthToken).values(expires_at=utcnow() - timedelta(seconds=1)))
    assert flow.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"


def test_refreshing_never_outlives_the_absolute_end(
    signed_in: TestClient, kernel: Kernel, settings: Settings
) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    days = settings.refresh_token_absolute_days
    with kernel.store.write() as session:
        almost = utcnow() - timedelta(days=days) + timedelta(minutes=2)
        session.execute(update(OAuthGrant).values(created_at=almost))
    second = flow.refresh(first["refresh_token"]).json()
    assert second["expires_in"] <= 120
    with kernel.store.write() as session:
        session.execute(update(OAuthGrant).values(created_at=utcnow() - timedelta(days=days)))
    assert flow.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_revoking_the_refresh_token_ends_the_grant(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    data = {"token": first["refresh_token"], "client_id": flow.client_id}
    assert signed_in.post("/revoke", data=data).status_code == 200
    assert not is_good(signed_in, first["access_token"])
    assert flow.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"


def test_revoking_an_access_token_leaves_the_grant(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    data = {"token": first["access_token"], "client_id": flow.client_id}
    assert signed_in.post("/revoke", data=data).status_code == 200
    assert not is_good(signed_in, first["access_token"])
    assert flow.refresh(first["refresh_token"]).status_code == 200


def test_revoking_what_is_unknown_or_anothers_looks_like_success_and_does_nothing(
    signed_in: TestClient,
) -> None:
    flow = new_flow(signed_in)
    first = flow.tokens()
    thief = register(signed_in, client_name="Thief")
    for token in ("bra_unknown", first["access_token"], first["refresh_token"]):
        data = {"token": token, "client_id": thief["client_id"]}
        assert signed_in.post("/revoke", data=data).status_code == 200
    assert is_good(signed_in, first["access_token"])
