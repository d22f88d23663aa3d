"""Uploads and imports in a real Chromium: large ones, interrupted, paused, taken up again after a
reload, tried out first, and read again after an upgrade."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Error, FilePayload, Page, Route, expect
from sqlalchemy import update

from backread.settings import Settings
from backread.store.engine import Store
from backread.store.models import Conversation
from tests.api.exports import dialogue, zipped
from tests.e2e.test_browser import chromium, complaints, context, server, set_up, upload
from tests.exports import as_json, as_zip
from tests.support import wait_until

__all__ = ["chromium", "complaints", "context", "server"]

pytestmark = [pytest.mark.browser, pytest.mark.parametrize("database", ["sqlite"], indirect=True)]

CHUNK = 16 * 2**20
_UPLOAD_MS = 60_000


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """An export of 40 MB: two chunks and a half."""
    path = tmp_path / "export.zip"
    padding = os.urandom(CHUNK * 5 // 2)
    return as_zip({"conversations.json": [dialogue("a", "b")], "chat.bin": padding}, path)


def stored(settings: Settings) -> int:
    """Bytes in the uploads folder."""
    return sum(path.stat().st_size for path in settings.uploads_dir.glob("*.upload"))


def requests_of(page: Page) -> list[str]:
    """Every request for an upload from now on, as it is sent."""
    sent: list[str] = []
    page.on(
        "request",
        lambda request: (
            sent.append(f"{request.method} {request.headers.get('upload-offset', '')}".strip())
            if "/api/v1/uploads" in request.url
            else None
        ),
    )
    return sent


def done(page: Page) -> None:
    page.wait_for_url("**/imports/*", timeout=_UPLOAD_MS)
    expect(page.get_by_text("Readable now")).to_be_visible()
    assert page.locator('[data-total="new"]').inner_text() == "1"


def test_a_large_file_goes_in_chunks(
    context: BrowserContext, server: Settings, complaints: list[str], large: Path
) -> None:
    page = context.new_page()
    set_up(page, server)
    sent = requests_of(page)
    page.set_input_files("#files", large)
    done(page)
    assert sent == ["POST", "PATCH 0", f"PATCH {CHUNK}", f"PATCH {2 * CHUNK}"]
    assert complaints == []


def test_an_upload_goes_on_by_itself_when_the_connection_is_back(
    context: BrowserContext, server: Settings, large: Path
) -> None:
    page = context.new_page()
    set_up(page, server)
    cut = {"is_off": True}

    def route(route: Route) -> None:
        offset = int(route.request.headers.get("upload-offset", "0"))
        if offset and cut["is_off"]:
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/api/v1/uploads/*", route)
    sent = requests_of(page)
    page.set_input_files("#files", large)
    expect(page.get_by_text("The connection to the server is lost.")).to_be_visible()
    expect(page.locator("[data-note]")).to_contain_text("goes on by itself")
    cut["is_off"] = False
    done(page)
    assert sent.count("POST") == 1
    assert sent.count("PATCH 0") == 1  # the first chunk was not sent twice
    assert sent[-1] == f"PATCH {2 * CHUNK}"


def wait_for(page: Page, held: list[Route]) -> None:
    # Routes are only seen while the page is asked for something.
    wait_until(lambda: page.evaluate("true") and held, what="the second chunk")


@contextmanager
def stuck_after_first_chunk(page: Page) -> Iterator[Callable[[], None]]:
    """A network in which requests after the first chunk never get an answer. Yields what waits
    for the second chunk to be on its way."""
    held: list[Route] = []

    def route(route: Route) -> None:
        if int(route.request.headers.get("upload-offset", "0")):
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/v1/uploads/*", route)
    yield lambda: wait_for(page, held)
    page.unroute("**/api/v1/uploads/*")
    for each in held:
        with suppress(Error):  # the page may have given the request up
            each.abort()


def test_after_a_reload_the_same_file_goes_on_where_it_was(
    context: BrowserContext, server: Settings, large: Path
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/import")
    with stuck_after_first_chunk(page) as until_stuck:
        page.set_input_files("#files", large)
        until_stuck()
    page.close(run_before_unload=False)

    page = context.new_page()
    page.goto("/import")
    expect(page.get_by_role("heading", name="Unfinished uploads")).to_be_visible()
    expect(page.get_by_text("MB of 42 MB")).to_be_visible()
    sent = requests_of(page)
    page.set_input_files("#files", large)
    done(page)
    assert sent[0] == "HEAD"
    assert {request.split()[0] for request in sent[1:]} == {"PATCH"}
    assert int(sent[1].split()[1]) >= CHUNK


def test_an_upload_can_be_paused_and_stopped(
    context: BrowserContext, server: Settings, large: Path
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/import")
    with stuck_after_first_chunk(page) as until_stuck:
        page.set_input_files("#files", large)
        until_stuck()
        expect(page.locator("[data-amount]")).to_contain_text("17 MB of")
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("Paused.")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    done(page)

    page.goto("/import")
    with stuck_after_first_chunk(page) as until_stuck:
        page.set_input_files("#files", large)
        until_stuck()
        expect(page.locator("[data-amount]")).to_contain_text("17 MB of")
        with page.expect_response(lambda answer: answer.request.method == "DELETE"):
            page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Choose files")).to_be_visible()
    assert stored(server) == 0


def test_many_small_files_go_together(
    context: BrowserContext, server: Settings, complaints: list[str], tmp_path: Path
) -> None:
    page = context.new_page()
    set_up(page, server)
    folder = tmp_path / "chats"
    folder.mkdir()
    for number in range(600):
        chat = dialogue(f"Question {number}?", "Yes.", identity=f"c{number}")
        (folder / f"{number}.json").write_bytes(as_json([chat]))
    sent = requests_of(page)
    page.set_input_files("#folder", folder)
    page.wait_for_url("**/imports/*", timeout=_UPLOAD_MS)
    expect(page.locator('[data-total="new"]')).to_have_text("600")
    assert sent == ["POST"] * 3
    assert complaints == []


def test_of_a_folder_only_what_may_hold_chats_is_sent(
    context: BrowserContext, server: Settings, tmp_path: Path
) -> None:
    page = context.new_page()
    set_up(page, server)
    folder = tmp_path / ".studio"
    chat = as_json([dialogue("How hot?", "1,200 °C.")])
    for name in ("Kiln plan", "state.vscdb", "state.vscdb-wal", "pot.png", ".git/HEAD", ".secret"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chat)
    page.goto("/import")
    page.set_input_files("#folder", folder)
    page.wait_for_url("**/imports/*", timeout=_UPLOAD_MS)
    report = page.request.get(f"/api/v1{page.url.removeprefix(server.origin)}").json()
    assert sorted(file["name"] for file in report["files"]) == [
        ".studio/Kiln plan",
        ".studio/state.vscdb",
        ".studio/state.vscdb-wal",
    ]


def test_a_file_that_is_gone_is_named(
    context: BrowserContext, server: Settings, large: Path
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/import")
    with stuck_after_first_chunk(page) as until_stuck:
        page.set_input_files("#files", large)
        until_stuck()
        expect(page.locator("[data-amount]")).to_contain_text("17 MB of")
        page.get_by_role("button", name="Pause").click()
    large.unlink()
    page.get_by_role("button", name="Go on").click()
    alert = page.get_by_role("alert").filter(visible=True)
    expect(alert).to_contain_text("export.zip was moved, changed or deleted")


def test_a_trial_run_is_carried_out_without_a_second_upload(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    page.goto("/import")
    page.get_by_label("Trial run").check()
    chat: FilePayload = {
        "name": "export.zip",
        "mimeType": "application/zip",
        "buffer": zipped(dialogue("a", "b")),
    }
    page.set_input_files("#files", [chat])
    page.wait_for_url("**/imports/*")
    expect(page.get_by_text("This was a trial run: nothing is stored.")).to_be_visible()
    sent = requests_of(page)
    page.get_by_role("button", name="Import for real").click()
    done(page)
    assert sent == []
    assert complaints == []


def test_an_import_is_paused_and_goes_on(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    chats = [dialogue(f"q{n}", "yes", identity=str(n)) for n in range(8_000)]
    upload(page, "export.zip", zipped(*chats))
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-stage]")).to_have_text("Paused")
    before = page.locator('[data-total="found"]').inner_text()
    page.reload()
    assert page.locator('[data-total="found"]').inner_text() == before != "8,000"
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("Readable now")).to_be_visible(timeout=60_000)
    assert page.locator('[data-total="new"]').inner_text() == "8,000"
    assert complaints == []


def test_an_import_is_stopped_only_after_a_yes(context: BrowserContext, server: Settings) -> None:
    page = context.new_page()
    set_up(page, server)
    chats = [dialogue(f"q{n}", "yes", identity=str(n)) for n in range(4_000)]
    upload(page, "export.zip", zipped(*chats))
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-stage]")).to_have_text("Paused")
    stop = page.get_by_role("button", name="Stop")
    page.once("dialog", lambda dialog: dialog.dismiss())
    stop.click()
    expect(stop).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    stop.click()
    expect(page.get_by_text("Stopped")).to_be_visible()


def is_read_again(page: Page) -> bool:
    state = page.request.get("/api/v1/reparse").json()
    return state["job"] is None and state["outdated"] == 0


def test_conversations_of_an_older_version_are_read_again(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    upload(page, "export.zip", zipped(dialogue("a", "b", title="Kiln")))
    expect(page.get_by_text("Readable now")).to_be_visible()
    store = Store(server.sqlalchemy_url)
    with store.write() as session:
        session.execute(update(Conversation).values(parser_version=0, title="garbled"))
    store.close()
    page.goto("/import")
    expect(page.get_by_text("1 conversation can be read better by this version")).to_be_visible()
    page.get_by_role("button", name="Read it again").click()
    expect(page.get_by_text("can be read better")).to_have_count(0)
    wait_until(lambda: is_read_again(page), what="reading again")
    page.goto("/import")
    expect(page.get_by_text("can be read better")).to_have_count(0)
    page.goto("/conversations")
    expect(page.get_by_role("link", name="Kiln")).to_be_visible()
    assert complaints == []
