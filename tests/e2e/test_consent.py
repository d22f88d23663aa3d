"""The consent page in a real Chromium: where its answer leads, and who can make it answer."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from backread.settings import Settings
from tests.api.oauth.flow import registration, s256
from tests.e2e.test_browser import chromium, complaints, context, server, set_up

__all__ = ["chromium", "complaints", "context", "server"]  # fixtures

pytestmark = [pytest.mark.browser, pytest.mark.parametrize("database", ["sqlite"], indirect=True)]


@pytest.fixture
def listening() -> Iterator[tuple[str, list[str]]]:
    """A client's loopback listener: its redirect address, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = b"<title>Connected</title>You can close this window."
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    listener = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{listener.server_address[1]}/callback", asked
    listener.shutdown()
    thread.join()
    listener.server_close()


def asking(server: Settings, redirect_uri: str, **changes: Any) -> str:
    """Registers a client and returns the address that it opens in the person's browser."""
    body = registration(redirect_uris=[redirect_uri], **changes)
    client = httpx.post(f"{server.origin}/register", json=body, trust_env=False).json()
    query = {
        "response_type": "code",
        "client_id": client["client_id"],
        "redirect_uri": redirect_uri,
        "code_challenge": s256("v" * 43),
        "code_challenge_method": "S256",
        "state": "st4te",
        "scope": "memory:read chat-history:read",
    }
    return f"{server.origin}/authorize?{urlencode(query)}"


@pytest.fixture
def page(context: BrowserContext, server: Settings) -> Page:
    page = context.new_page()
    set_up(page, server)
    return page


def test_c26_allowing_leads_to_the_clients_listener(
    page: Page, server: Settings, listening: tuple[str, list[str]]
) -> None:
    redirect_uri, asked = listening
    page.goto(asking(server, redirect_uri))
    expect(page.get_by_text("This client runs on your own computer.")).to_be_visible()
    page.get_by_role("button", name="Allow").click()
    expect(page).to_have_title("Connected")
    answer = parse_qs(urlsplit(next(path for path in asked if "code=" in path)).query)
    assert answer["state"] == ["st4te"]
    assert answer["iss"] == [server.origin]


def test_c26_allowing_leads_to_an_app_of_another_scheme(page: Page, server: Settings) -> None:
    """The browser hands the address to the app; here it is seen as the navigation it starts."""
    page.goto(asking(server, "cursor://anysphere.cursor-mcp/oauth/callback"))
    expect(page.get_by_text("cursor: (an app on this device)")).to_be_visible()
    devtools = page.context.new_cdp_session(page)
    devtools.send("Page.enable")
    devtools.send("Network.enable")
    left: list[str] = []
    devtools.on(
        "Network.responseReceivedExtraInfo",
        lambda event: left.extend(
            value for name, value in event["headers"].items() if name.lower() == "location"
        ),
    )
    blocked: list[str] = []
    page.on("console", lambda line: blocked.append(line.text))
    page.get_by_role("button", name="Allow").click()
    page.wait_for_function("() => true")
    expect(page.locator("body")).to_be_visible()
    _until(page, lambda: bool(left))
    assert left[0].startswith("cursor://anysphere.cursor-mcp/oauth/callback?code=")
    assert not [line for line in blocked if "Content Security Policy" in line]


def _until(page: Page, condition: Any) -> None:
    """Lets the browser's events arrive until the condition holds."""
    for _ in range(200):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("the browser did not get there")


def test_denying_leads_back_with_an_error(
    page: Page, server: Settings, listening: tuple[str, list[str]]
) -> None:
    redirect_uri, asked = listening
    page.goto(asking(server, redirect_uri))
    page.get_by_role("button", name="Deny").click()
    expect(page).to_have_title("Connected")
    assert "error=access_denied" in next(path for path in asked if "callback" in path)


def test_another_page_cannot_frame_the_consent_page(
    page: Page, server: Settings, listening: tuple[str, list[str]]
) -> None:
    redirect_uri, _ = listening
    target = asking(server, redirect_uri)
    evil = page.context.new_page()
    evil.route(
        "http://evil.localhost/",
        lambda route: route.fulfill(
            content_type="text/html", body=f'<iframe src="{target}"></iframe><p>Win a prize</p>'
        ),
    )
    evil.goto("http://evil.localhost/")
    expect(evil.get_by_text("Win a prize")).to_be_visible()
    _until(evil, lambda: len(evil.frames) > 1)
    for frame in evil.frames[1:]:
        assert frame.get_by_role("button", name="Allow").count() == 0


def test_another_page_cannot_send_the_form(
    page: Page, server: Settings, listening: tuple[str, list[str]]
) -> None:
    redirect_uri, asked = listening
    page.goto(asking(server, redirect_uri))
    fields = {
        field: page.locator(f'input[name="{field}"]').first.input_value()
        for field in ("consent_id", "csrf_token")
    }
    inputs = "".join(f'<input name="{name}" value="{value}">' for name, value in fields.items())
    evil = page.context.new_page()
    evil.route(
        "http://evil.localhost/",
        lambda route: route.fulfill(
            content_type="text/html",
            body=f'<form method="post" action="{server.origin}/authorize">{inputs}'
            '<input name="scope" value="memory:read"><button name="decision" value="allow">Go'
            "</button></form>",
        ),
    )
    evil.goto("http://evil.localhost/")
    evil.get_by_role("button", name="Go").click()
    evil.wait_for_load_state()
    assert "code=" not in evil.url
    assert asked == []


def test_a_hostile_client_name_is_text_and_nothing_else(
    page: Page, server: Settings, listening: tuple[str, list[str]], complaints: list[str]
) -> None:
    redirect_uri, _ = listening
    name = '<img src=x onerror=alert(1)>\u202e<script>alert(2)</script>"' + "W" * 300
    page.goto(asking(server, redirect_uri, client_name=name))
    shown = page.locator(".client-name").inner_text()
    assert shown.startswith("<img src=x onerror=alert(1)>")
    assert "\u202e" not in shown
    assert len(shown) <= 200
    assert page.locator(".consent img, .consent script").count() == 0
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert complaints == []


def test_that_one_client_was_allowed_skips_the_page_for_none(
    page: Page, server: Settings, listening: tuple[str, list[str]]
) -> None:
    redirect_uri, _ = listening
    first = asking(server, redirect_uri)
    page.goto(first)
    page.get_by_role("button", name="Allow").click()
    expect(page).to_have_title("Connected")
    for target in (first, asking(server, redirect_uri, client_name="Another Client")):
        page.goto(target)
        expect(page.get_by_role("button", name="Allow")).to_be_visible()
