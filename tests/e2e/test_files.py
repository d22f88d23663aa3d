"""Documents in a real Chromium: dropped, read, found, and opened at the passage."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, FilePayload, expect

from backread.settings import Settings
from tests.e2e.test_browser import chromium, complaints, context, server, set_up
from tests.ingest.documents.makers import encrypted_pdf, pdf

__all__ = ["chromium", "complaints", "context", "server"]

pytestmark = [pytest.mark.browser, pytest.mark.parametrize("database", ["sqlite"], indirect=True)]

_READ_MS = 60_000
_MANUAL = pdf(
    [
        "The oven manual. Read all of it before you bake in the oven for the first time at home.",
        "Warranty. Parts and labour are covered for three years from the date on the receipt.",
    ]
)


def payload(name: str, body: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": body}


def test_a_document_is_uploaded_read_found_and_opened_at_its_passage(
    context: BrowserContext, server: Settings, complaints: list[str], tmp_path: Path
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/files")
    page.get_by_label("Into").select_option("new")
    page.get_by_placeholder("Its name").fill("Home")
    files = [payload("Oven.pdf", _MANUAL), payload("locked.pdf", encrypted_pdf())]
    page.locator("#files").set_input_files(files)
    ready = page.locator(".file-line", has_text="Oven.pdf")
    expect(ready.get_by_text("Ready")).to_be_visible(timeout=_READ_MS)
    locked = page.locator(".file-line", has_text="locked.pdf")
    expect(locked.get_by_text("encrypted with a password")).to_be_visible(timeout=_READ_MS)
    expect(page.get_by_role("heading", name="Home")).to_be_visible()

    expect(page.get_by_label("Into").locator("option:checked")).to_have_text("Home")

    page.get_by_label("Search in files").fill("warranty labour")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Oven.pdf").click()
    page.wait_for_url("**/files/*?page=2&passage=1#passage")
    mark = page.locator("#passage")
    expect(mark).to_be_in_viewport()
    expect(mark).to_contain_text("Parts and labour are covered")
    page.get_by_role("link", name="Previous").first.click()
    expect(page.get_by_text("Read all of it")).to_be_visible()
    page.get_by_label("Page", exact=True).select_option("2")
    expect(page.get_by_text("Parts and labour")).to_be_visible()

    with page.expect_download() as coming:
        page.get_by_role("link", name="Original").click()
    target = tmp_path / coming.value.suggested_filename
    coming.value.save_as(target)
    assert target.name == "Oven.pdf"
    assert target.read_bytes() == _MANUAL

    assert complaints == []
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted: Oven.pdf")).to_be_visible()
    expect(page.locator(".file-line", has_text="Oven.pdf")).to_have_count(0)


def test_a_file_of_no_known_kind_is_refused_in_words(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/files")
    page.locator("#files").set_input_files([payload("x.pdf", bytes(range(256)))])
    line = page.locator(".file-line", has_text="x.pdf")
    expect(line.get_by_text("of a kind that cannot be read")).to_be_visible(timeout=_READ_MS)
    expect(line.get_by_role("button", name="Try again")).to_be_visible()
    assert complaints == []
