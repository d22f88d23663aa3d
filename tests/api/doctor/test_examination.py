"""The check of the connection, against a server that a proxy stands before."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from anyio import to_thread
from fastapi import FastAPI
from sqlalchemy import func, select
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.doctor.examination import examine, examine_all, inside_address
from api.doctor.findings import Examination, Finding
from api.doctor.profiles import PROFILES
from api.doctor.walk import Walk
from backread.domain import Principal
from backread.errors import Conflict
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, OAuthClient, OAuthCode, OAuthGrant, OAuthToken
from backread.store.repositories import oauth
from tests.api.doctor import faults
from tests.api.live import loopback_socket, serving
from tests.api.oauth.documents import document_server

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

Wrap = Callable[[ASGIApp], ASGIApp]


def _account(app: FastAPI) -> Principal:
    with app.state.kernel.store.write() as session:
        account = Account(email="ada@example.org", password_hash="unused", role="owner")
        session.add(account)
        session.flush()
        return Principal(account.id)


def _rows(app: FastAPI) -> int:
    tables = (OAuthClient, OAuthGrant, OAuthCode, OAuthToken)
    with app.state.kernel.store.read() as session:
        return sum(session.scalar(select(func.count()).select_from(each)) or 0 for each in tables)


def examined(settings: Settings, wrap: Wrap = lambda app: app) -> Examination:
    """What the check says about a server behind `wrap`. It must leave nothing behind."""
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with serving(settings, listener, wrap) as app:
        found = examine(app.state.kernel, _account(app), f"http://127.0.0.1:{port}")
        assert _rows(app) == 0
    return found


def finding(found: Examination, check: str, section: str = "The address") -> Finding:
    titled = next(each for each in found.sections if each.title == section)
    return next(each for each in titled.findings if each.check == check)


def test_every_client_gets_into_a_server_that_nothing_stands_before(settings: Settings) -> None:
    found = examined(settings)
    assert found.is_healthy
    assert [section.title for section in found.sections] == [
        "The address",
        *(profile.name for profile in PROFILES),
    ]
    remarks = {
        section.title: each
        for section in found.sections
        for each in section.findings
        if each.state != "ok"
    }
    assert set(remarks) == {"Claude on the web", "ChatGPT"}  # which run at their makers'
    assert all("this computer only" in each.problem for each in remarks.values())


@pytest.mark.parametrize(
    ("wrap", "check", "state", "advice"),
    [
        (faults.answering(faults.bad_gateway), "reach", "failed", "cannot reach Backread"),
        (faults.answering(faults.https_redirect), "reach", "failed", "BACKREAD_PUBLIC_URL"),
        (faults.answering(faults.wrong_host), "reach", "failed", "BACKREAD_ALLOWED_HOSTS"),
        (
            faults.answering(faults.well_known_page),
            "resource_metadata",
            "failed",
            "/.well-known/ among them",
        ),
        (faults.answering(faults.no_well_known), "server_metadata", "failed", "every path"),
        (
            faults.changing_body(b"http://127.0.0.1", b"http://10.10.0.1"),
            "resource_metadata",
            "failed",
            "rewrites addresses",
        ),
        (
            faults.changing_headers(lambda headers: headers.__delitem__("www-authenticate")),
            "challenge",
            "failed",
            "pass it on",
        ),
        (faults.answering(faults.own_login), "challenge", "failed", "pass it on"),
        (
            faults.without_request_header("authorization"),
            "authorization",
            "failed",
            "Authorization header",
        ),
        (faults.answering(faults.slash_redirect), "slashes", "warning", "clean-up of slashes"),
        (faults.answering(faults.unknown_page), "unknown_documents", "warning", "web page"),
        (faults.answering(faults.own_preflight), "preflight", "warning", "OPTIONS"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_proxy_gets_wrong_is_named_with_what_to_change(
    settings: Settings, wrap: Wrap, check: str, state: str, advice: str
) -> None:
    found = examined(settings, wrap)
    seen = finding(found, check)
    assert seen.state == state, seen
    assert seen.problem
    assert advice in seen.advice
    assert found.is_healthy == (state == "warning")


def test_a_filter_against_bots_keeps_out_the_clients_that_it_names(settings: Settings) -> None:
    found = examined(settings, faults.answering(faults.bot_filter))
    blocked = finding(found, "register", "Claude on the web")
    assert blocked.state == "failed"
    assert "bot filter" in blocked.advice
    assert finding(found, "token", "Claude on the web").state == "skipped"
    assert finding(found, "revoke", "Codex").state == "ok"
    assert not found.is_healthy


def test_two_checks_at_once_do_not_meet(settings: Settings) -> None:
    """The second one begins and ends while a client of the first waits for its tokens."""
    checks: list[Callable[[], Examination]] = []
    found: list[Examination] = []

    def with_another_check(app: ASGIApp) -> ASGIApp:
        async def proxy(scope: Scope, receive: Receive, send: Send) -> None:
            # A client without a secret: the same registration twice is one client.
            is_http = scope["type"] == "http"
            is_chatgpt = is_http and "openai" in Headers(scope=scope).get("user-agent", "")
            if is_chatgpt and scope["path"] == "/token" and checks:
                found.append(await to_thread.run_sync(checks.pop()))
            await app(scope, receive, send)

        return proxy

    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with serving(settings, listener, with_another_check) as app:
        check = partial(examine, app.state.kernel, _account(app), f"http://127.0.0.1:{port}")
        checks.append(check)
        found.append(check())
        assert len(found) == 2
        assert all(each.is_healthy for each in found), found
        assert _rows(app) == 0


def test_a_server_checks_once_at_a_time(settings: Settings) -> None:
    refused: list[Conflict] = []

    def check_again(scope: Scope) -> None:
        if scope["path"] == "/healthz":
            with pytest.raises(Conflict, match="at this moment") as caught:
                examine_all(scope["app"].state.kernel, Principal("nobody"))
            refused.append(caught.value)

    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    apps: list[FastAPI] = []
    wrap = faults.answering(lambda scope: check_again({**scope, "app": apps[0]}))
    with serving(settings, listener, wrap) as app:
        apps.append(app)
        principal = _account(app)
        for count in (1, 2):
            examine_all(app.state.kernel, principal)
            assert len(refused) == count


def test_what_answers_cannot_name_a_client_of_somebody_else(settings: Settings) -> None:
    named = {"client_id": "real", "token_endpoint_auth_method": "none"}

    def another_server(scope: Scope) -> Response | None:
        return JSONResponse(named, 201) if scope["path"] == "/register" else None

    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with serving(settings, listener, faults.answering(another_server)) as app:
        principal = _account(app)
        with app.state.kernel.store.write() as session:
            uris = [uri for profile in PROFILES for uri in profile.redirect_uris]
            metadata = {"redirect_uris": uris}
            session.add(OAuthClient(id="real", fingerprint="real", metadata_=metadata))
        found = examine(app.state.kernel, principal, f"http://127.0.0.1:{port}")
        assert _rows(app) == 1
    seen = finding(found, "token", "Codex")
    assert seen.state == "failed"
    assert "database of its own" in seen.advice


def test_what_a_check_that_died_leaves_behind_ends_by_itself(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Walk, "clean_up", lambda self: self._probe.close())
    monkeypatch.setattr(Walk, "_revoke", lambda self: None)
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with serving(settings, listener) as app:
        assert examine(app.state.kernel, _account(app), f"http://127.0.0.1:{port}").is_healthy
        soon = utcnow() + timedelta(minutes=10)
        with app.state.kernel.store.write() as session:
            tokens = session.scalars(select(OAuthToken)).all()
            assert tokens
            assert all(token.expires_at <= soon for token in tokens)
            longest = timedelta(days=settings.refresh_token_absolute_days)
            oauth.delete_ended(
                session, now=soon, superseded_before=soon, granted_before=soon - longest
            )
            oauth.delete_unused_clients(session, not_seen_since=soon)
        assert _rows(app) == 0


def test_a_proxy_that_rewrites_redirects_is_named(settings: Settings) -> None:
    def rewrite(headers: MutableHeaders) -> None:
        location = headers.get("location")
        if location:
            headers["location"] = f"http://internal:8787{location}"

    found = examined(settings, faults.changing_headers(rewrite))
    seen = finding(found, "authorize", "Codex")
    assert seen.state == "failed"
    assert "proxy_redirect" in seen.advice


def test_an_address_that_the_server_does_not_know_itself_by_is_named(settings: Settings) -> None:
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with serving(settings, listener) as app:
        found = examine(app.state.kernel, _account(app), f"http://localhost:{port}")
    seen = finding(found, "identity")
    assert seen.state == "failed"
    assert f"--public-url http://localhost:{port}" in seen.advice
    assert len(found.sections) == 1


@pytest.mark.parametrize(
    ("host", "inside"),
    [("0.0.0.0", "127.0.0.1"), ("127.0.0.2", "127.0.0.2")],  # noqa: S104
)
def test_past_the_proxy_the_server_is_not_asked_to_know_itself_by_that_address(
    settings: Settings, host: str, inside: str
) -> None:
    listener, port = loopback_socket(inside)
    public = "https://backread.example"
    settings = settings.model_copy(update={"port": port, "host": host, "public_url": public})
    assert inside_address(settings) == f"http://{inside}:{port}"
    with serving(settings, listener) as app:
        found = examine(app.state.kernel, _account(app), inside_address(settings), is_public=False)
    assert found.is_healthy, found


def test_an_address_where_nothing_listens_is_named(settings: Settings) -> None:
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with serving(settings, listener) as app:
        principal, kernel = _account(app), app.state.kernel
        closed, closed_port = loopback_socket()
        closed.close()
        found = examine(kernel, principal, f"http://127.0.0.1:{closed_port}")
    seen = finding(found, "reach")
    assert seen.state == "failed"
    assert "cannot be reached" in seen.problem
    assert {each.state for each in found.sections[0].findings[1:]} == {"skipped"}


def test_a_certificate_that_nobody_trusts_is_named(settings: Settings) -> None:
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    with serving(settings, listener) as app, document_server() as other:
        found = examine(app.state.kernel, _account(app), f"https://127.0.0.1:{other.port}")
    seen = finding(found, "reach")
    assert seen.state == "failed"
    assert "certificate" in seen.problem
    assert "public authority" in seen.advice
