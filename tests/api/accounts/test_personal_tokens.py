from datetime import timedelta

import httpx2
import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from api.accounts.personal_tokens import make_token, use_token
from backread.crypto import hash_token
from backread.domain import Scope
from backread.errors import InvalidInput, NotFound
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Account, PersonalToken
from tests.api.accounts.forms import send, shown_secret
from tests.api.conftest import PASSWORD, sign_in

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

TOKEN = r"brk_[A-Za-z0-9_-]{43}"


def new_token(kernel: Kernel, account: Account, *scopes: Scope, days: int | None = None) -> str:
    with kernel.store.write() as session:
        return make_token(session, account.id, name="backup", scopes=scopes, days=days)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Accept": "application/json"}


def listed_tools(browser: TestClient, token: str) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    return browser.post("/api/mcp/mcp", json=body, headers=bearer(token))


def test_a_token_is_shown_once_kept_as_a_hash_and_revoked_at_once(
    signed_in: TestClient, kernel: Kernel
) -> None:
    fields = {"name": "backup", "scope": ["chat-history:read"], "days": "30"}
    made = send(
        signed_in, "/settings/tokens", "/settings/tokens", current_password=PASSWORD, **fields
    )
    token = shown_secret(made.text, TOKEN)
    page = signed_in.get("/settings/tokens").text
    assert "backup" in page
    assert token not in page
    with kernel.store.read() as session:
        row = session.scalars(select(PersonalToken)).one()
    assert row.token_hash == hash_token(token)
    assert row.expires_at is not None
    assert timedelta(days=29) < row.expires_at - utcnow() <= timedelta(days=30)

    signed_in.cookies.clear()
    assert signed_in.get("/api/v1/search?q=rye", headers=bearer(token)).status_code == 200
    with kernel.store.read() as session:
        assert session.scalars(select(PersonalToken.last_used_at)).one() is not None

    with kernel.store.read() as session:
        owner = session.scalars(select(Account)).one()
    sign_in(signed_in, kernel, owner)
    revoked = send(signed_in, "/settings/tokens", f"/settings/tokens/{row.id}/revoke")
    assert revoked.status_code == 303
    signed_in.cookies.clear()
    refused = signed_in.get("/api/v1/search?q=rye", headers=bearer(token))
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert "Make a new one" in refused.json()["hint"]


def test_a_token_is_made_only_by_who_knows_the_password(
    signed_in: TestClient, kernel: Kernel
) -> None:
    fields = {"name": "backup", "scope": ["chat-history:read"]}
    page = send(
        signed_in, "/settings/tokens", "/settings/tokens", current_password="guessed", **fields
    )
    assert (page.status_code, "password is wrong" in page.text) == (400, True)
    assert 'value="backup"' in page.text  # what was typed is kept
    with kernel.store.read() as session:
        assert session.scalars(select(PersonalToken)).all() == []


@pytest.mark.parametrize(
    ("scope", "allowed", "refused"),
    [
        (Scope.CHAT_HISTORY_READ, "/api/v1/conversations", "/api/v1/imports"),
        (Scope.CHAT_HISTORY_WRITE, "/api/v1/imports", "/api/v1/conversations"),
        (Scope.MEMORY_READ, "/api/v1/memory-suggestions", "/api/v1/search?q=rye"),
    ],
)
def test_a_token_reaches_what_it_was_made_for_and_nothing_else(
    browser: TestClient, kernel: Kernel, owner: Account, scope: Scope, allowed: str, refused: str
) -> None:
    token = new_token(kernel, owner, scope)
    assert browser.get(allowed, headers=bearer(token)).status_code == 200
    answer = browser.get(refused, headers=bearer(token))
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")


def test_a_script_writes_without_a_forms_token_and_a_browser_does_not(
    browser: TestClient, kernel: Kernel, owner: Account
) -> None:
    token = new_token(kernel, owner, Scope.CHAT_HISTORY_WRITE)
    files = {"files": ("export.json", b"[]", "application/json")}
    taken = browser.post("/api/v1/imports", files=files, headers=bearer(token))
    assert taken.status_code == 202
    sign_in(browser, kernel, owner)
    json = {"Accept": "application/json"}
    assert browser.post("/api/v1/imports", files=files, headers=json).status_code == 403


def test_cookies_that_come_with_a_token_count_for_nothing(
    browser: TestClient, kernel: Kernel, owner: Account
) -> None:
    sign_in(browser, kernel, owner)
    token = new_token(kernel, owner, Scope.MEMORY_READ)
    assert browser.get("/api/v1/conversations", headers=bearer(token)).status_code == 403
    assert browser.get("/api/v1/conversations", headers=bearer("brk_no")).status_code == 401
    # A forged form cannot dodge its own token by adding the header.
    page = browser.post("/settings/sessions/end-others", headers=bearer(token))
    assert page.headers["location"].startswith("/sign-in")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/settings"),
        ("GET", "/settings/security"),
        ("GET", "/settings/tokens"),
        ("GET", "/settings/people"),
        ("POST", "/settings/password"),
        ("POST", "/settings/tokens"),
        ("POST", "/settings/app/begin"),
        ("POST", "/settings/passkeys/options"),
        ("POST", "/settings/people/invites"),
        ("GET", "/authorize"),
    ],
)
def test_no_token_opens_the_settings_of_an_account(
    browser: TestClient, kernel: Kernel, owner: Account, method: str, path: str
) -> None:
    token = new_token(kernel, owner, *Scope)
    form = {
        "current_password": PASSWORD,
        "new_password": "another password",
        "name": "x",
        "scope": "memory:read",
    }
    data = form if method == "POST" and "options" not in path else None
    json = form if data is None and method == "POST" else None
    answer = browser.request(method, path, data=data, json=json, headers=bearer(token))
    assert answer.status_code in {303, 400}
    assert answer.headers.get("location", "/sign-in").startswith("/sign-in")
    with kernel.store.read() as session:
        assert len(session.scalars(select(PersonalToken)).all()) == 1


def test_the_mcp_endpoint_takes_a_token_and_offers_what_it_may_do(
    browser: TestClient, kernel: Kernel, owner: Account
) -> None:
    names = {
        tool["name"]
        for tool in listed_tools(browser, new_token(kernel, owner, Scope.MEMORY_READ)).json()[
            "result"
        ]["tools"]
    }
    assert "search_memories" in names
    assert "recall_chat_history" not in names
    assert listed_tools(browser, "brk_guessed").status_code == 401


def test_a_token_ends_by_itself_and_with_its_account(
    browser: TestClient, kernel: Kernel, owner: Account
) -> None:
    token = new_token(kernel, owner, Scope.CHAT_HISTORY_READ, days=1)
    principal = use_token(kernel, token)
    assert principal is not None
    assert principal.scopes == {Scope.CHAT_HISTORY_READ}
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=utcnow()))
    assert use_token(kernel, token) is None
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=None))
        session.execute(update(PersonalToken).values(expires_at=utcnow()))
    assert use_token(kernel, token) is None


def test_a_token_of_somebody_else_cannot_be_revoked(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash="unused")
        session.add(other)
    token = new_token(kernel, other, Scope.MEMORY_READ)
    with kernel.store.read() as session:
        token_id = session.scalars(select(PersonalToken.id)).one()
    answer = send(signed_in, "/settings/tokens", f"/settings/tokens/{token_id}/revoke")
    assert answer.status_code == 404
    assert use_token(kernel, token) is not None


@pytest.mark.parametrize(
    ("name", "scopes", "days"),
    [
        ("", ["memory:read"], 30),
        ("x" * 101, ["memory:read"], 30),
        ("x", [], 30),
        ("x", ["memory:read", "everything"], 30),
        ("x", ["memory:read"], 0),
        ("x", ["memory:read"], 4000),
    ],
)
def test_a_token_that_cannot_be_is_not_made(
    kernel: Kernel, owner: Account, name: str, scopes: list[str], days: int
) -> None:
    with kernel.store.write() as session, pytest.raises((InvalidInput, NotFound)):
        make_token(session, owner.id, name=name, scopes=scopes, days=days)
