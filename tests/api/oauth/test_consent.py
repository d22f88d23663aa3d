from datetime import timedelta

import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, OAuthConsent, OAuthGrant
from tests.api.conftest import sign_in
from tests.api.oauth.flow import Flow, answered, form_fields, new_flow, register
from tests.conftest import new_principal

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def test_consent_page_shows_who_asks_for_what_and_where_the_answer_goes(
    signed_in: TestClient,
) -> None:
    flow = new_flow(signed_in)
    page = flow.authorize()
    assert page.status_code == 200
    assert "Trial Client" in page.text
    assert "127.0.0.1:33418" in page.text
    assert "on your own computer" in page.text  # the loopback warning
    assert form_fields(page.text)["scope"] == ["memory:read", "memory:write", "chat-history:read"]
    assert "overview" in page.text  # chat_history_overview is part of memory:read
    assert "uploaded files" in page.text  # as search_uploaded_files is
    assert "delete memories and buckets" in page.text  # forget_memories needs memory:write alone


def test_c26_consent_page_has_no_form_action_and_cannot_be_framed(signed_in: TestClient) -> None:
    policy = new_flow(signed_in).authorize().headers["content-security-policy"]
    assert "form-action" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy


def test_denying_redirects_with_an_error_and_issuer(
    signed_in: TestClient, settings: Settings, kernel: Kernel
) -> None:
    flow = new_flow(signed_in)
    params = answered(flow.consent(flow.authorize(), decision="deny"))
    assert params["error"] == "access_denied"
    assert params["iss"] == settings.origin
    assert "code" not in params


def test_narrower_consent_gives_a_narrower_grant(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    assert flow.tokens(scopes=["memory:read"])["scope"] == "memory:read"


def test_scopes_that_were_not_asked_for_cannot_be_ticked(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    page = flow.authorize(scope="memory:read")
    answer = flow.consent(page, scopes=["memory:read", "memory:write", "admin"])
    assert flow.exchange(answered(answer)["code"]).json()["scope"] == "memory:read"


def test_allowing_nothing_asks_again(signed_in: TestClient, kernel: Kernel) -> None:
    flow = new_flow(signed_in)
    answer = flow.consent(flow.authorize(), scopes=[])
    assert answer.status_code == 422
    assert "at least one" in answer.text
    assert flow.consent(flow.authorize()).status_code == 303


def test_consent_needs_the_token_of_its_own_page(signed_in: TestClient, kernel: Kernel) -> None:
    flow = new_flow(signed_in)
    first = form_fields(flow.authorize().text)
    second = form_fields(flow.authorize().text)
    for token in ("", "guess", second["csrf_token"][0]):
        data = {
            "consent_id": first["consent_id"][0],
            "csrf_token": token,
            "decision": "allow",
            "scope": ["memory:read"],
        }
        answer = signed_in.post("/authorize", data=data)
        assert answer.status_code == 403
    with kernel.store.read() as session:
        assert session.scalar(select(func.count()).select_from(OAuthGrant)) == 0


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_consent_from_another_origin_is_refused(signed_in: TestClient, origin: str) -> None:
    flow = new_flow(signed_in)
    form = form_fields(flow.authorize().text)
    data = {
        "consent_id": form["consent_id"][0],
        "csrf_token": form["csrf_token"][0],
        "decision": "allow",
        "scope": form["scope"],
    }
    assert signed_in.post("/authorize", data=data, headers={"Origin": origin}).status_code == 403


def test_consent_is_bound_to_the_session_that_was_asked(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    flow = new_flow(signed_in)
    page = flow.authorize()
    sign_in(signed_in, kernel, owner)  # the same person, another session
    assert flow.consent(page).status_code == 403


def test_another_persons_consent_cannot_be_answered(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    flow = new_flow(signed_in)
    page = flow.authorize()
    stranger = new_principal(kernel.store, "boris@example.org")
    with kernel.store.read() as session:
        other = session.get(Account, stranger.account_id)
    assert other is not None
    sign_in(signed_in, kernel, other)
    assert flow.consent(page).status_code == 403


def test_consent_can_be_answered_once(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    page = flow.authorize()
    assert flow.consent(page).status_code == 303
    again = flow.consent(page)
    assert again.status_code == 400
    assert "answered already" in again.text
    assert "location" not in again.headers


def test_consent_expires_after_ten_minutes(signed_in: TestClient, kernel: Kernel) -> None:
    flow = new_flow(signed_in)
    page = flow.authorize()
    with kernel.store.write() as session:
        past = utcnow() - timedelta(seconds=1)
        session.execute(update(OAuthConsent).values(expires_at=past))
    assert flow.consent(page).status_code == 400


def test_swapping_fields_of_the_form_changes_nothing(signed_in: TestClient) -> None:
    """What is granted comes from the stored request; the form only says yes and which boxes."""
    flow = new_flow(signed_in)
    other = register(signed_in, client_name="Other", redirect_uris=["https://evil.example/cb"])
    form = form_fields(flow.authorize().text)
    data = {
        "consent_id": form["consent_id"][0],
        "csrf_token": form["csrf_token"][0],
        "decision": "allow",
        "scope": form["scope"],
        "client_id": other["client_id"],
        "redirect_uri": "https://evil.example/cb",
        "code_challenge": "A" * 43,
    }
    answer = signed_in.post("/authorize", data=data)
    assert answer.headers["location"].startswith(flow.redirect_uri)
    assert flow.exchange(answered(answer)["code"]).status_code == 200


def test_consent_is_asked_again_for_every_client_and_every_time(signed_in: TestClient) -> None:
    first = new_flow(signed_in)
    first.tokens()
    assert first.authorize().status_code == 200
    assert new_flow(signed_in, client_name="Another").authorize().status_code == 200


def test_a_client_name_with_markup_is_inert(signed_in: TestClient) -> None:
    flow = new_flow(signed_in, client_name='<img src=x onerror="alert(1)">')
    page = flow.authorize().text
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page


def test_signed_out_people_cannot_answer(browser: TestClient, owner: Account) -> None:
    flow = Flow(browser, register(browser)["client_id"])
    data = {"consent_id": "x", "csrf_token": "y", "decision": "allow"}
    answer = browser.post("/authorize", data=data, headers=flow.own_origin())
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in")
