from datetime import timedelta

import pytest
from fastapi import FastAPI
from sqlalchemy import select, update
from starlette.testclient import TestClient

from api.accounts.limits import SignInLimits
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, WebSession
from tests.api.conftest import PASSWORD, sign_in
from tests.api.web.pages import text_of
from tests.api.web.test_entry import form_token

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

FIREFOX = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0"


def at(app: FastAPI, settings: Settings, address: str, user_agent: str = FIREFOX) -> TestClient:
    """A browser at a network address."""
    browser = TestClient(
        app, base_url=settings.origin, follow_redirects=False, client=(address, 50000)
    )
    browser.headers.update({"Accept": "text/html", "User-Agent": user_agent})
    return browser


def try_password(browser: TestClient, password: str) -> int:
    form = {"email": "ada@example.org", "password": password}
    form["csrf_token"] = form_token(browser.get("/sign-in").text)
    return browser.post("/sign-in", data=form).status_code


def test_sessions_are_listed_in_words(
    app: FastAPI, settings: Settings, browser: TestClient, owner: Account
) -> None:
    here = at(app, settings, "203.0.113.77")
    assert try_password(here, PASSWORD) == 303
    page = here.get("/settings/sessions").text
    assert "Firefox on macOS" in page
    assert "from 203.0.113.0/24" in page
    assert "203.0.113.77" not in page
    assert "this one" in page


def test_the_list_knows_within_minutes_when_a_session_was_used(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    with kernel.store.write() as session:
        session.execute(update(WebSession).values(last_seen_at=utcnow() - timedelta(minutes=6)))
    signed_in.get("/conversations")
    sign_in(signed_in, kernel, owner)
    text = text_of(signed_in.get("/settings/sessions").text)
    assert "last used just now" in text


def test_one_session_or_all_others_can_be_ended(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    here = dict(signed_in.cookies)
    elsewhere = [sign_in(signed_in, kernel, owner) for _ in range(3)]
    signed_in.cookies.update(here)
    page = signed_in.get("/settings/sessions")
    token = form_token(page.text)
    with kernel.store.read() as session:
        rows = session.scalars(select(WebSession).order_by(WebSession.id)).all()
    form = {"csrf_token": token}
    signed_in.post(f"/settings/sessions/{rows[1].id}/end", data=form)
    assert [_works(signed_in, each) for each in elsewhere] == [False, True, True]
    signed_in.cookies.update(here)
    signed_in.post("/settings/sessions/end-others", data=form)
    assert [_works(signed_in, each) for each in elsewhere] == [False, False, False]
    signed_in.cookies.update(here)
    assert signed_in.get("/").status_code == 200


def _works(browser: TestClient, token: str) -> bool:
    browser.cookies.set("backread_session", token)
    return browser.get("/").status_code == 200


def test_the_session_of_somebody_else_is_left_alone(signed_in: TestClient, kernel: Kernel) -> None:
    here = dict(signed_in.cookies)
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash="unused")
        session.add(other)
    theirs = sign_in(signed_in, kernel, other)
    with kernel.store.read() as session:
        row = session.scalars(select(WebSession).where(WebSession.account_id == other.id)).one()
    signed_in.cookies.update(here)
    token = form_token(signed_in.get("/settings/sessions").text)
    signed_in.post(f"/settings/sessions/{row.id}/end", data={"csrf_token": token})
    signed_in.post("/settings/sessions/end-others", data={"csrf_token": token})
    assert _works(signed_in, theirs)


def test_a_guesser_is_stopped_and_the_owner_elsewhere_is_not(
    app: FastAPI,
    settings: Settings,
    browser: TestClient,
    owner: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SignInLimits, "delay_seconds", lambda self, account: 0.0)
    guesser = at(app, settings, "203.0.113.5")
    assert [try_password(guesser, "wrong password") for _ in range(11)] == [401] * 10 + [429]
    assert try_password(guesser, PASSWORD) == 429
    assert try_password(at(app, settings, "198.51.100.7"), PASSWORD) == 303


def test_behind_a_proxy_each_client_has_tries_of_its_own(
    app: FastAPI,
    settings: Settings,
    browser: TestClient,
    owner: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SignInLimits, "delay_seconds", lambda self, account: 0.0)
    guesser = at(app, settings, "127.0.0.1")
    statuses = []
    for number in range(11):
        # What the guesser itself puts into the header changes nothing.
        guesser.headers["X-Forwarded-For"] = f"10.9.8.{number}, 2001:db8:1:2::{number:x}"
        statuses.append(try_password(guesser, "wrong password"))
    assert statuses == [401] * 10 + [429]
    owners = at(app, settings, "127.0.0.1")
    owners.headers["X-Forwarded-For"] = "2001:db8:1:3::1"
    assert try_password(owners, PASSWORD) == 303
    assert "2001:db8:1::/48" in owners.get("/settings/sessions").text
