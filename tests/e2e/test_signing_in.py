"""Passkeys, the authenticator app and invites, in a real Chromium with a virtual authenticator."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyotp
import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect

from backread.settings import Settings
from tests.e2e.test_browser import (
    chromium,
    complaints,
    context,
    listen,
    outside,
    server,
    set_up,
    sideways,
)

__all__ = ["chromium", "complaints", "context", "server"]

pytestmark = [pytest.mark.browser, pytest.mark.parametrize("database", ["sqlite"], indirect=True)]

PASSWORD = "correct horse battery"


@pytest.fixture
def named(chromium: Browser, server: Settings, complaints: list[str]) -> Iterator[BrowserContext]:
    """A browser that opens the server by name: passkeys know no addresses."""
    origin = f"http://localhost:{server.port}"
    context = chromium.new_context(base_url=origin, timezone_id="Europe/Lisbon")
    context.set_default_timeout(20_000)
    context.on("page", lambda page: listen(page, complaints))
    context.on("request", lambda request: outside(request.url, origin, complaints))
    yield context
    context.close()


@dataclass(frozen=True)
class Device:
    """An authenticator that is built into the browser."""

    session: CDPSession
    id: str

    def stop_checking(self) -> None:
        """Makes it answer without asking for finger or PIN."""
        body = {"authenticatorId": self.id, "isUserVerified": False}
        self.session.send("WebAuthn.setUserVerified", body)


def plug_in(page: Page) -> Device:
    """Gives the page a device that checks its owner."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return Device(session, made["authenticatorId"])


def add_passkey(page: Page) -> None:
    page.goto("/settings/security")
    page.get_by_text("Add a passkey").click()
    page.get_by_label("Name").fill("Laptop")
    page.locator("#passkey-password").fill(PASSWORD)
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_text("The passkey is added")).to_be_visible()


def sign_out(page: Page) -> None:
    page.goto("/settings")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def give_password(page: Page) -> None:
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_passkey_is_added_used_and_removed(
    named: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = named.new_page()
    plug_in(page)
    set_up(page, server)
    add_passkey(page)
    sign_out(page)

    page.goto("/sign-in?next=/conversations")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Conversations", exact=True)).to_be_visible()
    assert page.url.endswith(f":{server.port}/conversations")

    page.goto("/settings/security")
    expect(page.get_by_text("used just now")).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove Laptop").click()
    expect(page.get_by_text("The passkey is removed.")).to_be_visible()
    sign_out(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("does not sign anybody in")).to_be_visible()
    assert [line for line in complaints if "dialog" not in line and "401" not in line] == []


def test_a_device_that_does_not_check_its_owner_gets_nobody_in(
    named: BrowserContext, server: Settings
) -> None:
    page = named.new_page()
    device = plug_in(page)
    set_up(page, server)
    add_passkey(page)
    sign_out(page)
    device.stop_checking()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.locator("[data-problem]")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_at_an_address_the_page_says_where_passkeys_work(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/settings/security")
    link = page.get_by_role("link", name=f"http://localhost:{server.port}")
    expect(link).to_be_visible()
    expect(page.get_by_text("Add a passkey")).to_be_hidden()
    sign_out(page)
    expect(page.get_by_role("button", name="Use a passkey")).to_be_hidden()
    assert complaints == []


def test_an_authenticator_app_is_set_up_and_asked_for(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/settings/security")
    page.get_by_text("Set up", exact=True).click()
    page.locator("#app-password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    drawn = page.locator(".qr").evaluate("image => image.complete && image.naturalWidth")
    assert drawn > 100
    page.get_by_text("Or type the key in").click()
    app = pyotp.TOTP(page.locator(".enrol-key code").inner_text())
    page.get_by_label("Six digits").fill(app.now())
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    recovery = page.locator(".recovery code").inner_text().split()
    assert len(recovery) == 10
    sign_out(page)

    give_password(page)
    expect(page.get_by_role("heading", name="Enter your code")).to_be_visible()
    page.get_by_text("Your phone is not here?").click()
    page.get_by_label("Recovery code").fill(recovery[0])
    page.get_by_role("button", name="Use recovery code").click()
    expect(page.get_by_role("heading", name="bring your chats home")).to_be_visible()
    assert complaints == []


def test_somebody_who_was_invited_joins_and_the_owner_removes_them(
    context: BrowserContext,
    chromium: Browser,
    server: Settings,
    complaints: list[str],
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/settings/people")
    page.get_by_label("Their name").fill("Boris")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator(".once code").inner_text()

    guest = chromium.new_context(timezone_id="Europe/Lisbon")
    visit = guest.new_page()
    visit.goto(link)
    visit.get_by_label("Email").fill("boris@example.org")
    visit.get_by_label("Password").fill("seven green kettles")
    visit.get_by_role("button", name="Create account").click()
    expect(visit.get_by_role("heading", name="bring your chats home")).to_be_visible()
    visit.goto(f"{server.origin}/settings")
    expect(visit.get_by_role("link", name="People")).to_have_count(0)

    page.goto("/settings/people")
    page.get_by_text("Remove", exact=True).click()
    page.get_by_label("Type boris@example.org to confirm").fill("boris@example.org")
    page.get_by_role("button", name="Remove and erase").click()
    expect(page.get_by_text("its data is being erased")).to_be_visible()
    visit.reload()
    expect(visit.get_by_role("heading", name="Sign in")).to_be_visible()
    guest.close()
    assert complaints == []


def test_the_settings_fit_a_phone(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.set_viewport_size({"width": 390, "height": 844})
    for section in ("security", "sessions", "tokens", "people"):
        page.goto(f"/settings/{section}")
        assert sideways(page) <= 0, section
        for fold in page.locator("details").all():
            fold.evaluate("fold => { fold.open = true; }")
        assert sideways(page) <= 0, f"{section}, unfolded"
    assert complaints == []
