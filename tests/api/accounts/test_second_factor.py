import re
from datetime import timedelta
from typing import Any

import httpx2
import pyotp
import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from api.accounts import second_factor
from api.accounts.limits import CODE_BURST, SignInLimits
from api.accounts.second_factor import STEP_SECONDS, TRIES_PER_SIGN_IN, forget_factors
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Account, AuthenticatorApp, RecoveryCode, SignInChallenge
from tests.api.accounts.forms import send
from tests.api.conftest import PASSWORD, sign_in
from tests.api.oauth.flow import Flow, register
from tests.api.web.test_entry import form_token

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

SECURITY = "/settings/security"
RECOVERY = re.compile(r"\b[a-z2-7]{4}(?:-[a-z2-7]{4}){3}\b")


class App:
    """Somebody's authenticator app, with a clock that the server shares."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_800_000_000.0
        self.secret = ""
        monkeypatch.setattr(second_factor, "clock", lambda: self.now)

    def code(self, steps: int = 0) -> str:
        return pyotp.TOTP(self.secret).at(int(self.now) + steps * STEP_SECONDS)

    def later(self) -> None:
        self.now += STEP_SECONDS


@pytest.fixture
def app_(monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.setattr(SignInLimits, "take", lambda self, address: None)
    return App(monkeypatch)


def turn_on(browser: TestClient, app: App) -> list[str]:
    """Sets the app up by hand; returns the recovery codes."""
    begun = send(browser, SECURITY, "/settings/app/begin", current_password=PASSWORD)
    assert begun.headers["location"] == "/settings/app"
    page = browser.get("/settings/app").text
    found = re.search(r"<code[^>]*>([A-Z2-7]{32})</code>", page)
    assert found
    assert "data:image/svg+xml" in page
    app.secret = found[1]
    done = send(browser, "/settings/app", "/settings/app", code=app.code())
    codes = RECOVERY.findall(re.search(r"<pre>.*?</pre>", done.text, re.DOTALL)[0])  # type: ignore[index]
    assert len(set(codes)) == 10
    app.later()
    return codes


def give_password(browser: TestClient, next: str = "/") -> httpx2.Response:
    browser.cookies.clear()
    token = form_token(browser.get("/sign-in").text)
    form = {"csrf_token": token, "email": "ada@example.org", "password": PASSWORD, "next": next}
    return browser.post("/sign-in", data=form)


def give_code(browser: TestClient, code: str, **fields: Any) -> httpx2.Response:
    form = {"csrf_token": form_token(browser.get("/sign-in/code").text), "code": code, **fields}
    return browser.post("/sign-in/code", data=form)


def is_signed_in(browser: TestClient) -> bool:
    return browser.get("/").status_code == 200


def test_sign_in_asks_for_a_code_once_the_app_is_on(signed_in: TestClient, app_: App) -> None:
    turn_on(signed_in, app_)
    answer = give_password(signed_in)
    assert answer.headers["location"].startswith("/sign-in/code")
    assert not is_signed_in(signed_in)
    assert signed_in.get("/api/v1/imports").status_code == 401

    wrong = give_code(signed_in, "000000" if app_.code() != "000000" else "111111")
    assert (wrong.status_code, "code is wrong" in wrong.text) == (401, True)
    assert not is_signed_in(signed_in)

    right = give_code(signed_in, app_.code())
    assert (right.status_code, right.headers["location"]) == (303, "/")
    assert is_signed_in(signed_in)


def test_nothing_is_asked_for_until_the_app_has_shown_its_first_code(
    signed_in: TestClient, app_: App
) -> None:
    send(signed_in, SECURITY, "/settings/app/begin", current_password=PASSWORD)
    refused = send(signed_in, "/settings/app", "/settings/app", code="123456")
    assert (refused.status_code, "code is wrong" in refused.text) == (400, True)
    assert give_password(signed_in).headers["location"] == "/"


def test_setting_the_app_up_needs_the_password(signed_in: TestClient, app_: App) -> None:
    refused = send(signed_in, SECURITY, "/settings/app/begin", current_password="guessed")
    assert (refused.status_code, "password is wrong" in refused.text) == (400, True)
    assert signed_in.get("/settings/app").headers["location"] == SECURITY


def test_a_code_works_once(signed_in: TestClient, app_: App) -> None:
    turn_on(signed_in, app_)
    code = app_.code()
    give_password(signed_in)
    assert give_code(signed_in, code).status_code == 303
    give_password(signed_in)
    assert give_code(signed_in, code).status_code == 401
    app_.later()
    assert give_code(signed_in, code).status_code == 401  # still within its step and one more
    assert give_code(signed_in, app_.code()).status_code == 303


@pytest.mark.parametrize(("steps", "status"), [(-2, 401), (-1, 303), (0, 303), (1, 303), (2, 401)])
def test_a_clock_may_be_a_step_off(
    signed_in: TestClient, app_: App, steps: int, status: int
) -> None:
    turn_on(signed_in, app_)
    app_.now += 5 * STEP_SECONDS
    give_password(signed_in)
    assert give_code(signed_in, app_.code(steps)).status_code == status


def test_a_recovery_code_works_once_however_it_is_typed(signed_in: TestClient, app_: App) -> None:
    codes = turn_on(signed_in, app_)
    give_password(signed_in)
    assert give_code(signed_in, codes[3].upper().replace("-", " ")).status_code == 303
    assert "9 recovery codes left" in signed_in.get(SECURITY).text
    give_password(signed_in)
    assert give_code(signed_in, codes[3]).status_code == 401
    assert give_code(signed_in, codes[4]).status_code == 303


def test_new_recovery_codes_end_the_old_ones(signed_in: TestClient, app_: App) -> None:
    old = turn_on(signed_in, app_)
    made = send(signed_in, SECURITY, "/settings/app/recovery-codes", current_password=PASSWORD)
    new = RECOVERY.findall(made.text)
    assert not set(new) & set(old)
    give_password(signed_in)
    assert give_code(signed_in, old[0]).status_code == 401
    assert give_code(signed_in, new[0]).status_code == 303


def test_neither_secret_nor_codes_are_stored_readably(
    signed_in: TestClient, app_: App, kernel: Kernel
) -> None:
    codes = turn_on(signed_in, app_)
    kernel.store.close()
    stored = b"".join(path.read_bytes() for path in kernel.settings.home.glob("backread.db*"))
    assert app_.secret.encode() not in stored
    for code in codes:
        assert code.encode() not in stored
        assert code.replace("-", "").encode() not in stored
    key = kernel.settings.home / "secret.key"
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_secret_opens_only_for_the_account_it_was_made_for(
    signed_in: TestClient, app_: App, kernel: Kernel, owner: Account
) -> None:
    turn_on(signed_in, app_)
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash="unused")
        session.add(other)
        session.flush()
        session.execute(update(AuthenticatorApp).values(account_id=other.id))
    with kernel.store.read() as session:
        assert second_factor.has_second_factor(session, other.id)
        with pytest.raises(Exception, match="cannot be read"):
            second_factor._use_app_code(session, kernel.settings, other.id, app_.code())  # type: ignore[arg-type]


def test_the_app_is_turned_off_with_password_and_code_only(
    signed_in: TestClient, app_: App, kernel: Kernel
) -> None:
    turn_on(signed_in, app_)
    for password, code in ((PASSWORD, "nonsense"), ("guessed", app_.code())):
        refused = send(
            signed_in, SECURITY, "/settings/app/off", current_password=password, code=code
        )
        assert refused.status_code == 400
    send(signed_in, SECURITY, "/settings/app/off", current_password=PASSWORD, code=app_.code())
    assert give_password(signed_in).headers["location"] == "/"
    with kernel.store.read() as session:
        assert session.scalars(select(RecoveryCode)).all() == []


def test_turning_the_app_on_signs_other_browsers_out(
    signed_in: TestClient, app_: App, kernel: Kernel, owner: Account
) -> None:
    here = dict(signed_in.cookies)
    sign_in(signed_in, kernel, owner)
    elsewhere = dict(signed_in.cookies)
    signed_in.cookies.update(here)
    turn_on(signed_in, app_)
    assert is_signed_in(signed_in)
    signed_in.cookies.update(elsewhere)
    assert not is_signed_in(signed_in)


def test_after_a_few_wrong_codes_the_password_is_asked_for_again(
    signed_in: TestClient, app_: App
) -> None:
    turn_on(signed_in, app_)
    give_password(signed_in)
    token = form_token(signed_in.get("/sign-in/code").text)
    for _ in range(TRIES_PER_SIGN_IN):
        answer = signed_in.post("/sign-in/code", data={"csrf_token": token, "code": "wrong code"})
        assert answer.status_code == 401
    ended = signed_in.post("/sign-in/code", data={"csrf_token": token, "code": app_.code()})
    assert ended.headers["location"] == "/sign-in?ended=true&next=%2F"
    assert "Begin again" in signed_in.get(ended.headers["location"]).text
    assert not is_signed_in(signed_in)


def test_guessing_codes_ends_and_a_recovery_code_still_lets_the_owner_in(
    signed_in: TestClient, app_: App
) -> None:
    codes = turn_on(signed_in, app_)
    statuses = []
    for _ in range(CODE_BURST // TRIES_PER_SIGN_IN + 1):
        give_password(signed_in)
        for _ in range(TRIES_PER_SIGN_IN - 1):
            statuses.append(give_code(signed_in, "123456").status_code)
    assert 429 in statuses
    assert statuses.count(401) <= CODE_BURST
    refused = give_code(signed_in, app_.code())
    assert refused.status_code == 429
    assert "recovery code" in refused.text
    give_password(signed_in)
    assert give_code(signed_in, codes[0]).status_code == 303


def test_a_waiting_sign_in_ends_with_time_and_with_a_new_password(
    signed_in: TestClient, app_: App, kernel: Kernel, owner: Account
) -> None:
    turn_on(signed_in, app_)
    give_password(signed_in)
    with kernel.store.write() as session:
        session.execute(update(SignInChallenge).values(expires_at=utcnow() - timedelta(seconds=1)))
    assert signed_in.get("/sign-in/code").headers["location"].startswith("/sign-in?")
    give_password(signed_in)
    from api.accounts.service import set_password

    with kernel.store.write() as session:
        set_password(session, owner.id, "seven green kettles")
    assert signed_in.get("/sign-in/code").headers["location"].startswith("/sign-in?")


def test_the_command_line_can_take_all_factors_away(
    signed_in: TestClient, app_: App, kernel: Kernel, owner: Account
) -> None:
    turn_on(signed_in, app_)
    with kernel.store.write() as session:
        forget_factors(session, owner.id)
    assert not is_signed_in(signed_in)
    assert give_password(signed_in).headers["location"] == "/"


def test_a_client_that_asks_for_access_gets_it_after_the_second_factor_too(
    signed_in: TestClient, app_: App
) -> None:
    turn_on(signed_in, app_)
    flow = Flow(signed_in, register(signed_in)["client_id"])
    signed_in.cookies.clear()
    sent = flow.authorize()
    assert sent.headers["location"].startswith("/sign-in?next=%2Fauthorize%3F")
    page = signed_in.get(sent.headers["location"])
    form = {"csrf_token": form_token(page.text), "email": "ada@example.org", "password": PASSWORD}
    wanted = re.search(r'name="next" value="([^"]*)"', page.text)
    assert wanted
    form["next"] = wanted[1].replace("&amp;", "&")
    step = signed_in.post("/sign-in", data=form)
    assert step.headers["location"].startswith("/sign-in/code?next=%2Fauthorize%3F")
    code_page = signed_in.get(step.headers["location"])
    wanted = re.search(r'name="next" value="([^"]*)"', code_page.text)
    assert wanted
    done = give_code(signed_in, app_.code(), next=wanted[1].replace("&amp;", "&"))
    consent = signed_in.get(done.headers["location"])
    assert "wants to use your Backread" in consent.text
    assert "code=" in flow.consent(consent).headers["location"]
