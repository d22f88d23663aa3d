from datetime import timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from api.accounts.limits import SignInLimits
from api.accounts.passkeys import RelyingParty, relying_party
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, Passkey, SignInChallenge
from tests.api.accounts.authenticator import Authenticator
from tests.api.accounts.forms import send
from tests.api.conftest import PASSWORD, sign_in
from tests.api.web.test_entry import form_token

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

SECURITY = "/settings/security"


@pytest.fixture(autouse=True)
def _without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SignInLimits, "take", lambda self, address: None)


@pytest.fixture
def device(kernel: Kernel) -> Authenticator:
    party = relying_party(kernel.settings)
    return Authenticator(origin=party.origin, party=party.id)


def post(browser: TestClient, path: str, body: dict[str, Any], page: str) -> httpx2.Response:
    headers = {"X-CSRF-Token": form_token(browser.get(page).text), "Accept": "application/json"}
    return browser.post(path, json=body, headers=headers)


def asked_to_add(browser: TestClient, password: str = PASSWORD) -> dict[str, Any]:
    answer = post(browser, "/settings/passkeys/options", {"current_password": password}, SECURITY)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def add(browser: TestClient, device: Authenticator, **bent: Any) -> httpx2.Response:
    asked = asked_to_add(browser)
    credential = device.create(asked["options"], **bent)
    body = {"token": asked["token"], "name": "My phone", "credential": credential}
    return post(browser, "/settings/passkeys", body, SECURITY)


def asked_to_sign_in(browser: TestClient) -> dict[str, Any]:
    browser.cookies.clear()
    answer = post(browser, "/sign-in/passkey/options", {}, "/sign-in")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def answer_sign_in(
    browser: TestClient, asked: dict[str, Any], credential: dict[str, Any], next: str = "/"
) -> httpx2.Response:
    body = {"token": asked["token"], "credential": credential, "next": next}
    return post(browser, "/sign-in/passkey", body, "/sign-in")


def enter(browser: TestClient, device: Authenticator, **bent: Any) -> int:
    asked = asked_to_sign_in(browser)
    return answer_sign_in(browser, asked, device.get(asked["options"], **bent)).status_code


def is_signed_in(browser: TestClient) -> bool:
    return browser.get("/").status_code == 200


def test_a_passkey_signs_in_by_itself_and_leads_back(
    signed_in: TestClient, device: Authenticator
) -> None:
    assert add(signed_in, device).json() == {"location": "/settings/security?done=passkey"}
    assert "My phone" in signed_in.get(SECURITY).text
    asked = asked_to_sign_in(signed_in)
    answer = answer_sign_in(
        signed_in, asked, device.get(asked["options"]), next="/conversations?title=rye"
    )
    assert answer.json() == {"location": "/conversations?title=rye"}
    assert is_signed_in(signed_in)


def test_a_passkey_stands_for_password_and_code_together(
    signed_in: TestClient, device: Authenticator, kernel: Kernel, owner: Account
) -> None:
    from backread.store.models import AuthenticatorApp

    add(signed_in, device)
    with kernel.store.write() as session:
        session.add(AuthenticatorApp(account_id=owner.id, sealed_secret="", confirmed_at=utcnow()))
    assert enter(signed_in, device) == 200
    assert is_signed_in(signed_in)


def test_a_passkey_is_added_only_by_who_knows_the_password(
    signed_in: TestClient, kernel: Kernel
) -> None:
    body = {"current_password": "guessed"}
    refused = post(signed_in, "/settings/passkeys/options", body, SECURITY)
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "The current password is wrong.",
    )
    with kernel.store.read() as session:
        assert session.scalars(select(SignInChallenge)).all() == []


@pytest.mark.parametrize(
    "bent",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:8787"},
        {"party": "evil.example"},
        {"challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"type": "webauthn.get"},
    ],
)
def test_an_answer_that_was_made_for_somebody_else_adds_nothing(
    signed_in: TestClient, device: Authenticator, kernel: Kernel, bent: dict[str, Any]
) -> None:
    assert add(signed_in, device, **bent).status_code == 400
    with kernel.store.read() as session:
        assert session.scalars(select(Passkey)).all() == []


@pytest.mark.parametrize(
    "bent",
    [
        {"origin": "https://evil.example"},
        {"party": "evil.example"},
        {"challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"type": "webauthn.create"},
        {"user_handle": "c29tZWJvZHkgZWxzZQ"},
    ],
)
def test_an_answer_that_was_made_for_somebody_else_signs_nobody_in(
    signed_in: TestClient, device: Authenticator, bent: dict[str, Any]
) -> None:
    add(signed_in, device)
    assert enter(signed_in, device, **bent) == 401
    assert not is_signed_in(signed_in)


def test_the_device_must_have_checked_its_owner(
    signed_in: TestClient, device: Authenticator
) -> None:
    device.checks_its_owner = False
    assert add(signed_in, device).status_code == 400
    device.checks_its_owner = True
    assert add(signed_in, device).status_code == 200
    device.checks_its_owner = False
    assert enter(signed_in, device) == 401


def test_a_copied_device_is_noticed_by_its_count(
    signed_in: TestClient, device: Authenticator
) -> None:
    device.sign_count = 7
    add(signed_in, device)
    assert enter(signed_in, device) == 200
    assert enter(signed_in, device, sign_count=8) == 401
    assert enter(signed_in, device, sign_count=3) == 401
    assert enter(signed_in, device, sign_count=0) == 401
    assert enter(signed_in, device, sign_count=12) == 200


def test_a_device_that_does_not_count_is_fine(signed_in: TestClient, device: Authenticator) -> None:
    add(signed_in, device)
    assert enter(signed_in, device, sign_count=0) == 200
    assert enter(signed_in, device, sign_count=0) == 200


def test_a_signature_by_another_key_signs_nobody_in(
    signed_in: TestClient, device: Authenticator
) -> None:
    add(signed_in, device)
    impostor = Authenticator(device.origin, device.party, credential_id=device.credential_id)
    impostor.user_handle = device.user_handle
    assert enter(signed_in, impostor) == 401
    unknown = Authenticator(device.origin, device.party)
    assert enter(signed_in, unknown) == 401


def test_an_answer_works_once_and_not_for_ever(
    signed_in: TestClient, device: Authenticator, kernel: Kernel
) -> None:
    add(signed_in, device)
    asked = asked_to_sign_in(signed_in)
    credential = device.get(asked["options"], sign_count=0)
    assert answer_sign_in(signed_in, asked, credential).status_code == 200
    signed_in.cookies.clear()
    assert answer_sign_in(signed_in, asked, credential).status_code == 401
    asked = asked_to_sign_in(signed_in)
    with kernel.store.write() as session:
        session.execute(update(SignInChallenge).values(expires_at=utcnow() - timedelta(seconds=1)))
    assert answer_sign_in(signed_in, asked, device.get(asked["options"])).status_code == 401


@pytest.mark.parametrize(
    "credential",
    [
        {},
        {"id": "x"},
        {"id": "AA", "rawId": "AA", "type": "public-key", "response": {}},
        {"id": "AA", "rawId": 5, "response": None, "type": []},
        {"rawId": "\u00e9", "response": {"userHandle": 5}},
    ],
)
def test_nonsense_is_refused_in_words(signed_in: TestClient, credential: dict[str, Any]) -> None:
    asked = asked_to_sign_in(signed_in)
    answer = answer_sign_in(signed_in, asked, credential)
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")


def test_nonsense_is_not_added(signed_in: TestClient) -> None:
    asked = asked_to_add(signed_in)
    body = {"token": asked["token"], "name": "x", "credential": {"response": {"transports": 5}}}
    assert post(signed_in, "/settings/passkeys", body, SECURITY).status_code == 400


@pytest.mark.parametrize("key", [5, [1], {}, {1: 2}, {1: 2, 3: -7}])
def test_a_key_of_nonsense_is_not_added(
    signed_in: TestClient, device: Authenticator, key: object
) -> None:
    answer = add(signed_in, device, public_key=key)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


@pytest.mark.parametrize("bent", [{-2: "a", -3: 5}, {-1: 99}])
def test_a_key_that_cannot_check_a_signature_signs_nobody_in(
    signed_in: TestClient, device: Authenticator, bent: dict[int, object]
) -> None:
    point = {-1: 1, -2: b"1" * 32, -3: b"2" * 32}
    assert add(signed_in, device, public_key={1: 2, 3: -7, **point, **bent}).status_code == 200
    assert enter(signed_in, device) == 401


def test_transports_of_nonsense_are_left_out(
    signed_in: TestClient, device: Authenticator, kernel: Kernel
) -> None:
    assert add(signed_in, device, transports=[["usb"], {}, "pigeon", "usb"]).status_code == 200
    with kernel.store.read() as session:
        assert session.scalars(select(Passkey)).one().transports == ["usb"]


def test_what_one_account_was_asked_another_cannot_answer(
    signed_in: TestClient, device: Authenticator, kernel: Kernel
) -> None:
    asked = asked_to_add(signed_in)
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash="unused")
        session.add(other)
    sign_in(signed_in, kernel, other)
    body = {"token": asked["token"], "name": "x", "credential": device.create(asked["options"])}
    assert post(signed_in, "/settings/passkeys", body, SECURITY).status_code == 404


def test_a_removed_passkey_and_a_disabled_account_sign_nobody_in(
    signed_in: TestClient, device: Authenticator, kernel: Kernel, owner: Account
) -> None:
    add(signed_in, device)
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=utcnow()))
    assert enter(signed_in, device) == 401
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=None))
    assert enter(signed_in, device) == 200
    with kernel.store.read() as session:
        passkey_id = session.scalars(select(Passkey.id)).one()
    send(signed_in, SECURITY, f"/settings/passkeys/{passkey_id}/remove")
    assert enter(signed_in, device) == 401


def test_the_same_passkey_is_not_added_twice(signed_in: TestClient, device: Authenticator) -> None:
    add(signed_in, device)
    asked = asked_to_add(signed_in)
    assert len(asked["options"]["excludeCredentials"]) == 1
    assert add(signed_in, device).status_code == 409


@pytest.mark.parametrize(
    "spelled", ["https://backread.example.org", "https://Backread.Example.org:443"]
)
def test_passkeys_belong_to_the_name_in_the_public_address(
    settings: Settings, spelled: str
) -> None:
    public = settings.model_copy(update={"public_url": spelled})
    assert relying_party(public) == RelyingParty(
        "backread.example.org", "https://backread.example.org"
    )
    assert relying_party(settings) == RelyingParty("localhost", "http://localhost:8787")
