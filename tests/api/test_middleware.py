"""What every request and response goes through, whatever the route."""

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from tests.api.conftest import PASSWORD

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.mark.parametrize(
    ("path", "limit"),
    [("/token", 64 * 1024), ("/sign-in", 64 * 1024), ("/api/v1/search", 4 * 1024**2)],
)
def test_bodies_are_limited_by_what_their_address_needs(
    browser: TestClient, path: str, limit: int
) -> None:
    assert browser.post(path, content=b"x" * (limit + 1)).status_code == 413


@pytest.mark.parametrize("path", ["/token", "/register"])
def test_a_body_that_does_not_say_its_size_is_counted(browser: TestClient, path: str) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    parts = (b"x" * 16_384 for _ in range(5))
    assert browser.post(path, content=parts, headers=headers).status_code == 413


@pytest.mark.parametrize("path", ["/token", "/register", "/api/v1/imports", "/api/v1/search"])
def test_a_client_that_goes_before_its_body_has_come_is_no_error_of_ours(
    browser: TestClient, path: str
) -> None:
    coming: list[Message] = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]
    answers: list[Message] = []

    async def receive() -> Message:
        return coming.pop(0)

    async def send(message: Message) -> None:
        answers.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-length", b"50")]
    headers.append((b"content-type", b"application/x-www-form-urlencoded"))
    scope: Scope = {
        "type": "http",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 5),
    }
    assert browser.portal is not None
    browser.portal.call(browser.app, scope, receive, send)
    assert answers[0]["status"] < 500


def test_pages_cannot_be_framed_and_run_only_our_scripts(browser: TestClient) -> None:
    answer = browser.get("/setup")
    policy = answer.headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert part in policy
    assert "form-action 'self'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    # `no-referrer` would make browsers send `Origin: null` with our own forms.
    assert answer.headers["referrer-policy"] == "same-origin"


def test_every_answer_has_a_request_id(browser: TestClient) -> None:
    assert browser.get("/healthz").headers["x-request-id"]
    given = browser.get("/healthz", headers={"X-Request-ID": "trace-12345678"})
    assert given.headers["x-request-id"] == "trace-12345678"
    forged = browser.get("/healthz", headers={"X-Request-ID": "a b"})
    assert forged.headers["x-request-id"] != "a b"


def test_errors_are_problems_for_programs_and_pages_for_people(browser: TestClient) -> None:
    problem = browser.get("/api/v1/nothing", headers={"Accept": "application/json"})
    assert problem.status_code == 404
    assert problem.headers["content-type"] == "application/problem+json"
    assert problem.json()["detail"]
    page = browser.get("/nothing", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")


def test_rest_needs_a_sign_in_and_takes_no_ai_clients_token(browser: TestClient) -> None:
    for headers in ({}, {"Authorization": "Bearer bra_whatever"}):
        answer = browser.get("/api/v1/conversations", headers=headers)
        assert answer.status_code == 401
        assert answer.json()["code"] == "not_authenticated"


def test_the_form_cookie_is_out_of_reach_for_scripts(browser: TestClient) -> None:
    cookie = browser.get("/setup").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert PASSWORD not in cookie


@pytest.mark.parametrize(
    "origin", ["http://[", "http://[::1", "http://a b", "null", "", "http://127.0.0.1:x", "\x7f"]
)
@pytest.mark.parametrize("path", ["/api/mcp/mcp", "/api/v1/imports", "/sign-out"])
def test_an_origin_that_is_no_address_is_refused(
    browser: TestClient, path: str, origin: str
) -> None:
    answer = browser.post(path, headers={"Origin": origin})
    assert answer.status_code == 403
