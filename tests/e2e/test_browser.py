"""A person's way through the web app, in a real Chromium against a real server."""

import os
import shutil
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FilePayload,
    Page,
    expect,
    sync_playwright,
)

from backread.jobs.inline import serve_polling
from backread.settings import Settings
from ingest import tasks
from tests.api.exports import conversation, dialogue, message, zipped
from tests.api.live import loopback_socket, serving
from tests.api.payloads import PAYLOADS

__all__ = ["tasks"]  # importing the module registers the jobs

pytestmark = [pytest.mark.browser, pytest.mark.parametrize("database", ["sqlite"], indirect=True)]

CHROMIUM = os.environ.get("BACKREAD_TEST_CHROMIUM") or shutil.which("chromium")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_PATIENCE_MS = 20_000
expect.set_options(timeout=_PATIENCE_MS)
_PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def server(settings: Settings) -> Iterator[Settings]:
    """A running server whose background work gets done; yields its settings."""
    listener, port = loopback_socket()
    settings = settings.model_copy(update={"port": port})
    stopping = threading.Event()
    with listener, serving(settings, listener) as app:
        # The search index has one owner, so server and background work share a kernel.
        working = threading.Thread(target=serve_polling, args=(app.state.kernel, stopping))
        working.start()
        try:
            yield settings
        finally:
            stopping.set()
            working.join(timeout=20)
        assert not working.is_alive()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser had to complain about: errors, refused content, dialogs."""
    return []


@pytest.fixture
def context(chromium: Browser, server: Settings, complaints: list[str]) -> Iterator[BrowserContext]:
    context = chromium.new_context(base_url=server.origin, timezone_id="Europe/Lisbon")
    context.set_default_timeout(_PATIENCE_MS)
    context.on("page", lambda page: listen(page, complaints))
    context.on("request", lambda request: outside(request.url, server.origin, complaints))
    yield context
    context.close()


def listen(page: Page, complaints: list[str]) -> None:
    def note_dialog(dialog: object) -> None:
        complaints.append(f"dialog: {dialog}")

    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", note_dialog)


def outside(url: str, origin: str, complaints: list[str]) -> None:
    if not url.startswith(origin):
        complaints.append(f"request to {url}")


def set_up(page: Page, settings: Settings) -> None:
    token = (settings.home / "setup.token").read_text().strip()
    page.goto(f"/setup?token={token}")
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Lisbon")
    page.get_by_label("Your name").fill("Ada Marin")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", name="bring your chats home")).to_be_visible()


def upload(page: Page, name: str, body: bytes) -> None:
    file: FilePayload = {"name": name, "mimeType": "application/zip", "buffer": body}
    page.set_input_files("#files", [file])
    page.wait_for_url("**/imports/*")


def long_chat() -> dict[str, object]:
    """So long that the wanted message is on the reader's second page."""
    texts = [f"Step {number} of the renovation diary." for number in range(260)]
    texts[231] = "The plumber recommended copper pipes with compression fittings."
    return dialogue(*texts, title="Renovation diary", identity="long")


def test_from_set_up_to_the_exact_message(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    bread = dialogue("How long does rye prove?", "Four hours.", title="Rye", identity="rye")
    upload(page, "export.zip", zipped(long_chat(), bread))

    expect(page.get_by_text("Readable now")).to_be_visible()
    assert page.locator('[data-total="found"]').inner_text() == "2"
    assert page.locator('[data-total="new"]').inner_text() == "2"

    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type("which pipes did the plumber recommend")
    page.keyboard.press("Enter")
    hit = page.locator(".hit").first
    expect(hit.locator("mark").first).to_be_visible()
    hit.locator("a").click()

    found = page.locator(".message.is-arrived")
    expect(found).to_contain_text("copper pipes with compression fittings")
    expect(found).to_be_in_viewport()
    assert page.url.endswith(f"#{found.get_attribute('id')}")
    assert complaints == []


def test_an_anchor_alone_opens_the_right_page_and_branch(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    nodes = [
        message("q", None, "user", "Where shall we hike?"),
        message("a1", "q", "assistant", "Along the coast.", at=5),
        message("a2", "q", "assistant", "Up the mountain.", at=9),
    ]
    upload(page, "export.zip", zipped(conversation(nodes, title="Hike", current="a2")))
    expect(page.get_by_text("Readable now")).to_be_visible()

    page.goto("/conversations")
    page.get_by_role("link", name="Hike").click()
    expect(page.get_by_text("Up the mountain.")).to_be_visible()
    reader = page.url
    page.get_by_role("link", name="Previous version").click()
    expect(page.get_by_text("Along the coast.")).to_be_visible()
    anchor = page.url.split("#")[1]

    page.goto("about:blank")
    page.goto(f"{reader}#{anchor}")
    expect(page.locator(".message.is-arrived")).to_contain_text("Along the coast.")
    assert complaints == []


def test_a_wrong_file_is_told_in_words(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    upload(page, "holiday.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF" + b"\x00" * 100)
    alert = page.get_by_role("alert").filter(visible=True)
    expect(alert).to_contain_text("holiday.jpg looks like a JPEG photo")
    assert complaints == []


def test_no_page_scrolls_sideways_on_a_phone(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    assert_fits(page, "/setup")
    set_up(page, server)
    assert_fits(page, "/")
    wide = (
        f"A very{'longword' * 40} and `{'code' * 60}`\n\n```python\nx = '{'y' * 300}'\n```\n\n"
        f"|{'column|' * 12}\n|{'---|' * 12}\n|{'cell cell|' * 12}\n\n"
        f"https://example.org/{'path/' * 50}\n\n$${'a_1 + ' * 60}$$"
    )
    chat = dialogue(wide, wide, "Another?", "Yes", "Third?", "No", title="W" * 200, identity="w")
    upload(page, f"{'long-name-' * 12}.zip", zipped(chat))
    expect(page.get_by_text("Readable now")).to_be_visible()
    assert_fits(page, page.url)
    page.goto("/conversations")
    page.locator("a.chat").first.click()
    expect(page.locator(".message").first).to_be_visible()
    assert_fits(page, page.url)
    pages = ["/", "/import", "/conversations", "/search", "/search?q=longword", "/connections"]
    for path in [*pages, "/settings", "/c/nothing"]:
        assert_fits(page, path)
    page.goto("/connections")
    for guide in page.locator(".guide summary").all():
        guide.click()
        assert sideways(page) <= 0
    assert [line for line in complaints if "404" not in line] == []


def assert_fits(page: Page, path: str) -> None:
    page.goto(path)
    assert sideways(page) <= 0, path


def sideways(page: Page) -> int:
    """Pixels that the page is wider than the window."""
    width: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return width


def test_hostile_chats_do_nothing_in_a_real_browser(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    everything = dialogue(*PAYLOADS, title="".join(PAYLOADS[:8]), identity="x")
    titles = [dialogue(p, title=p, identity=f"t{n}") for n, p in enumerate(PAYLOADS)]
    upload(page, "<img src=x onerror=alert(1)>.zip", zipped(everything, *titles))
    expect(page.get_by_text("Readable now")).to_be_visible()
    for path in ("/", "/import", "/conversations", "/search?q=script+alert+1"):
        page.goto(path)
    page.goto("/conversations?sort=longest")
    page.locator("a.chat").first.click()
    expect(page.locator(".message").first).to_be_visible()
    for fold in page.locator(".message details").all():
        fold.evaluate("fold => { fold.open = true; }")
    page.wait_for_load_state("networkidle")
    assert complaints == []


def test_checking_the_connection_shows_every_client_getting_in(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/connections")
    page.get_by_role("button", name="Check the connection").click()
    expect(page.get_by_text("Every client that was tried came through.")).to_be_visible()
    # What runs at its maker's cannot reach this computer: said without being asked for.
    expect(page.get_by_text("ChatGPT runs at its maker's")).to_be_visible()
    page.get_by_text("Cursor", exact=True).click()
    expect(page.get_by_text("It can renew its access")).to_have_count(8)
    expect(page.get_by_text("It can renew its access").nth(4)).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert sideways(page) <= 0
    assert complaints == []
