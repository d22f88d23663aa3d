import stat
from urllib.parse import quote

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from api.accounts import service
from api.accounts.limits import BURST, SignInLimits
from api.accounts.passwords import hash_password, verify_password
from api.accounts.service import create_account, local_owner
from api.accounts.setup_token import ensure_setup_token, setup_token_path
from backread.errors import Conflict, InvalidInput
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, WebSession
from tests.api.conftest import PASSWORD, sign_in
from tests.api.oauth.flow import form_fields

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def own_origin(browser: TestClient) -> dict[str, str]:
    return {"Origin": str(browser.base_url).rstrip("/")}


def set_up(browser: TestClient, token: str, **changes: str) -> int:
    page = browser.get("/setup", params={"token": token})
    form = {name: values[0] for name, values in form_fields(page.text).items()}
    form |= {"token": token, "email": "ada@example.org", "password": PASSWORD, **changes}
    return browser.post("/setup", data=form, headers=own_origin(browser)).status_code


def try_to_sign_in(browser: TestClient, password: str, **changes: str) -> int:
    page = browser.get("/sign-in")
    form = {name: values[0] for name, values in form_fields(page.text).items()}
    form |= {"email": "ada@example.org", "password": password, **changes}
    answer = browser.post("/sign-in", data=form, headers=own_origin(browser))
    return answer.status_code


def is_signed_in(browser: TestClient) -> bool:
    return browser.get("/").status_code == 200


def test_the_set_up_token_is_kept_private_and_ends_with_set_up(
    browser: TestClient, settings: Settings, kernel: Kernel
) -> None:
    path = setup_token_path(settings)
    token = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ensure_setup_token(settings, kernel.store) == token
    assert set_up(browser, token) == 303
    assert not path.exists()
    assert ensure_setup_token(settings, kernel.store) is None
    assert is_signed_in(browser)


def test_set_up_works_once(browser: TestClient, settings: Settings) -> None:
    token = setup_token_path(settings).read_text()
    assert set_up(browser, token) == 303
    with TestClient(browser.app, base_url=settings.origin, follow_redirects=False) as other:
        assert other.get("/setup").headers["location"] == "/sign-in"
        assert other.get("/healthz").status_code == 200


@pytest.mark.parametrize("token", ["", "guess", "x" * 43])
def test_nobody_sets_the_server_up_without_the_token(
    browser: TestClient, kernel: Kernel, token: str
) -> None:
    assert set_up(browser, token) == 403
    with kernel.store.read() as session:
        assert session.scalars(select(Account)).all() == []


def test_the_set_up_token_cannot_be_tried_out(browser: TestClient) -> None:
    tries = [set_up(browser, "wrong") for _ in range(BURST + 1)]
    assert tries[-1] == 429


def test_set_up_claims_the_owner_that_the_command_line_made(
    browser: TestClient, settings: Settings, kernel: Kernel
) -> None:
    with kernel.store.write() as session:
        made = local_owner(session).id
    with kernel.store.write() as session:
        assert local_owner(session).id == made
    assert set_up(browser, setup_token_path(settings).read_text()) == 303
    with kernel.store.read() as session:
        owner = session.scalars(select(Account)).one()
    assert (owner.id, owner.email, owner.role) == (made, "ada@example.org", "owner")


@pytest.mark.parametrize(
    "changes",
    [
        {"password": "short"},
        {"password": "nine char"},
        {"password": "aaaaaaaaaaaaaaaa"},
        {"email": "no address"},
        {"email": "@"},
        {"timezone": "Mars/Olympus"},
        {"display_name": "x" * 201},
    ],
)
def test_an_account_that_cannot_be_used_is_not_made(
    browser: TestClient, settings: Settings, kernel: Kernel, changes: dict[str, str]
) -> None:
    token = setup_token_path(settings).read_text()
    assert set_up(browser, token, **changes) == 400
    with kernel.store.read() as session:
        assert session.scalars(select(Account)).all() == []
    assert setup_token_path(settings).exists()


def test_addresses_are_one_account_in_any_case(kernel: Kernel) -> None:
    with kernel.store.write() as session:
        create_account(session, email="Ada@Example.org", password=PASSWORD)
    with kernel.store.write() as session, pytest.raises(Conflict):
        create_account(session, email="ada@example.ORG", password=PASSWORD)
    with kernel.store.write() as session, pytest.raises(InvalidInput, match="at least 10"):
        create_account(session, email="eve@example.org", password="123456789")


def test_passwords_are_stored_as_argon2id(kernel: Kernel, owner: Account) -> None:
    algorithm, version, cost = owner.password_hash.split("$")[1:4]
    assert algorithm == "argon2id"
    memory, passes, _ = (int(part.split("=")[1]) for part in cost.split(","))
    assert memory >= 19 * 1024
    assert passes >= 2
    assert version == "v=19"


def test_the_right_password_signs_in_and_the_wrong_one_does_not(
    browser: TestClient, owner: Account
) -> None:
    assert try_to_sign_in(browser, "wrong password") == 401
    assert not is_signed_in(browser)
    assert try_to_sign_in(browser, PASSWORD, email="nobody@example.org") == 401
    assert try_to_sign_in(browser, PASSWORD) == 303
    assert is_signed_in(browser)


def test_a_password_that_is_replaced_while_it_is_checked_signs_nobody_in(
    browser: TestClient, kernel: Kernel, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replaced_meanwhile(password_hash: str | None, password: str) -> bool:
        with kernel.store.write() as session:
            service.set_password(session, owner.id, "another good password")
        return verify_password(password_hash, password)

    monkeypatch.setattr(service, "verify_password", replaced_meanwhile)
    assert try_to_sign_in(browser, PASSWORD) == 401
    assert not is_signed_in(browser)
    monkeypatch.undo()
    assert try_to_sign_in(browser, "another good password") == 303


def test_a_hash_of_older_strength_is_renewed_and_a_newer_password_is_not_undone(
    browser: TestClient, kernel: Kernel, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renew() -> str:
        assert try_to_sign_in(browser, PASSWORD) in {303, 401}
        with kernel.store.read() as session:
            return session.get_one(Account, owner.id).password_hash

    monkeypatch.setattr(service, "needs_rehash", lambda password_hash: True)
    first = renew()
    assert first != owner.password_hash
    assert is_signed_in(browser)
    browser.cookies.clear()
    newer = hash_password("another good password")

    def replaced_meanwhile(password: str) -> str:
        with kernel.store.write() as session:
            session.get_one(Account, owner.id).password_hash = newer
        return hash_password(password)

    monkeypatch.setattr(service, "hash_password", replaced_meanwhile)
    assert renew() == newer
    assert not is_signed_in(browser)


def test_an_owner_without_a_password_cannot_be_signed_in_to(
    browser: TestClient, kernel: Kernel, owner: Account
) -> None:
    with kernel.store.write() as session:
        session.execute(update(Account).values(password_hash=""))
    data = {"email": owner.email, "password": ""}
    answer = browser.post("/sign-in", data=data, headers=own_origin(browser))
    assert answer.status_code in {401, 403, 422}
    assert not is_signed_in(browser)


def test_signing_in_makes_a_new_session_whatever_the_browser_brought(
    browser: TestClient, settings: Settings, kernel: Kernel, owner: Account
) -> None:
    browser.cookies.set("backread_session", "planted")
    assert try_to_sign_in(browser, PASSWORD) == 303
    first = browser.cookies.get("backread_session", domain="127.0.0.1")
    assert first
    assert first != "planted"
    with kernel.store.read() as session:
        assert first not in session.scalars(select(WebSession.token_hash)).all()


def test_signing_out_ends_the_session_on_the_server(
    browser: TestClient, kernel: Kernel, owner: Account
) -> None:
    token = sign_in(browser, kernel, owner)
    with kernel.store.read() as session:
        csrf_token = session.scalars(select(WebSession.csrf_token)).one()
    refused = browser.post("/sign-out", data={"csrf_token": "guess"}, headers=own_origin(browser))
    assert refused.status_code == 403
    answer = browser.post("/sign-out", data={"csrf_token": csrf_token}, headers=own_origin(browser))
    assert answer.status_code == 303
    browser.cookies.set("backread_session", token)
    assert not is_signed_in(browser)


def test_an_ended_session_and_a_disabled_account_sign_nobody_in(
    browser: TestClient, kernel: Kernel, owner: Account
) -> None:
    sign_in(browser, kernel, owner)
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=utcnow()))
    assert not is_signed_in(browser)
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=None))
        session.execute(update(WebSession).values(expires_at=utcnow()))
    assert not is_signed_in(browser)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_forms_from_other_origins_are_refused(
    browser: TestClient, owner: Account, origin: str
) -> None:
    form = {name: values[0] for name, values in form_fields(browser.get("/sign-in").text).items()}
    form |= {"email": "ada@example.org", "password": PASSWORD}
    answer = browser.post("/sign-in", data=form, headers={"Origin": origin})
    assert answer.status_code == 403
    assert not is_signed_in(browser)


def test_a_form_without_its_token_is_refused(browser: TestClient, owner: Account) -> None:
    browser.get("/sign-in")
    assert try_to_sign_in(browser, PASSWORD, csrf_token="") == 403
    assert try_to_sign_in(browser, PASSWORD, csrf_token="guess") == 403


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)"],
)
def test_sign_in_leads_nowhere_else(browser: TestClient, owner: Account, target: str) -> None:
    page = browser.get(f"/sign-in?next={quote(target)}")
    form = {name: values[0] for name, values in form_fields(page.text).items()}
    form |= {"email": "ada@example.org", "password": PASSWORD, "next": target}
    answer = browser.post("/sign-in", data=form, headers=own_origin(browser))
    assert answer.headers["location"] == "/"


def test_the_eleventh_wrong_password_is_answered_with_429(
    browser: TestClient, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SignInLimits, "delay_seconds", lambda self, account: 0.0)
    answers = [try_to_sign_in(browser, "wrong password") for _ in range(11)]
    assert answers == [401] * 10 + [429]
