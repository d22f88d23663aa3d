"""Every secret that the server hands out, after it was used and misused: none of them is in the
database, in the log, or on a page that says what went wrong."""

import re

import httpx2
import pytest
from starlette.testclient import TestClient

from api.accounts.sessions import cookie_name
from backread.kernel import Kernel
from backread.settings import Settings
from tests.api.accounts.forms import send, shown_secret
from tests.api.conftest import PASSWORD
from tests.api.oauth.flow import Flow, is_good, register

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

_KEPT = r"[A-Za-z0-9_-]{43}"


def handed_out(browser: TestClient, settings: Settings) -> dict[str, str]:
    """One secret of every kind, all but the invite used as it is meant to be."""
    client = register(browser, token_endpoint_auth_method="client_secret_post")
    secret = str(client["client_secret"])
    reader = str(client["registration_access_token"])
    flow = Flow(browser, client["client_id"])
    code = flow.code()
    first = flow.exchange(code, client_secret=secret).json()
    second = flow.refresh(first["refresh_token"], client_secret=secret).json()
    assert is_good(browser, second["access_token"])
    described = browser.get(
        f"/register/{client['client_id']}", headers={"Authorization": f"Bearer {reader}"}
    )
    assert described.status_code == 200
    fields = {"name": "backup", "scope": ["chat-history:read"], "days": "30"}
    page = "/settings/tokens"
    personal = send(browser, page, page, current_password=PASSWORD, **fields).text
    people = "/settings/people"
    invite = send(browser, people, f"{people}/invites", name="Boris").text
    return {
        "session cookie": str(browser.cookies[cookie_name(settings)]),
        "client secret": secret,
        "registration token": reader,
        "code": code,
        "verifier": flow.verifier,
        "access token": str(first["access_token"]),
        "second access token": str(second["access_token"]),
        "refresh token": str(first["refresh_token"]),
        "second refresh token": str(second["refresh_token"]),
        "personal token": shown_secret(personal, f"brk_{_KEPT}"),
        "invite": shown_secret(invite, f"bri_{_KEPT}"),
        "password": PASSWORD,
    }


def misused(browser: TestClient, secret: str) -> list[httpx2.Response]:
    """What answers when a secret is sent where it is no good."""
    bearer = {"Authorization": f"Bearer {secret}", "Accept": "text/html"}
    form = {"grant_type": "refresh_token", "refresh_token": secret, "client_secret": secret}
    return [
        browser.get("/api/v1/search", headers=bearer),
        browser.get("/register/unknown", headers=bearer),
        browser.get(f"/exports/{secret}"),
        browser.get("/authorize", params={"client_id": secret, "state": "s"}),
        browser.get("/no/such/page", headers=bearer),
        browser.get("/join", params={"token": f"{secret}x"}),
        browser.post("/token", data=form),
        browser.post("/token", data={**form, "client_id": "unknown"}),
        browser.post("/token", data={"grant_type": "authorization_code", "code": secret}),
        browser.post("/api/mcp/mcp", json={}, headers={"Authorization": f"Basic {secret}"}),
        browser.post("/mcp/memories", json={}, headers=bearer),
    ]


def test_no_secret_stays_in_the_database_the_log_or_an_error(
    signed_in: TestClient,
    kernel: Kernel,
    settings: Settings,
    capfd: pytest.CaptureFixture[str],
) -> None:
    secrets = handed_out(signed_in, settings)
    assert len(set(secrets.values())) == len(secrets)
    signed_in.cookies.clear()
    for kind, secret in secrets.items():
        for answer in misused(signed_in, secret):
            assert answer.status_code >= 300
            shown = answer.text.replace(f"client_id={secret}", "")  # no secret there, a name
            assert secret not in shown, (kind, answer.request.url)
            assert answer.headers["referrer-policy"] in {"same-origin", "no-referrer"}
    files = [path for path in settings.home.rglob("*") if path.is_file()]
    assert any(path.name == "backread.db" for path in files)
    stored = b"".join(path.read_bytes() for path in files)
    log = "".join(capfd.readouterr())
    assert re.search("grant_made", log)
    for kind, secret in secrets.items():
        assert secret.encode() not in stored, kind
        assert secret not in log, kind
