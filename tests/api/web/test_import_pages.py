"""The import page and the report of an import, in each of their states."""

from typing import Any

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Import
from tests.api.archive import Importer, run_jobs
from tests.api.exports import dialogue, zipped
from tests.api.web.pages import csrf_of, tags_of, text_of

TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture
def page(signed_in: TestClient) -> TestClient:
    """The owner's browser with the token that its forms carry."""
    signed_in.headers["X-CSRF-Token"] = csrf_of(signed_in)
    return signed_in


def start(page: TestClient, *, dry_run: bool = False) -> str:
    """The address of a waiting import's report."""
    answer = page.post(
        f"/api/v1/imports?dry_run={dry_run}",
        files={"files": ("export.zip", zipped(dialogue("a", "b")))},
    )
    return f"/imports/{answer.json()['id']}"


def change(kernel: Kernel, **values: Any) -> None:
    with kernel.store.write() as session:
        session.execute(update(Import).values(**values))


def actions_of(html: str) -> set[str]:
    """The last word of each address that a form of the page sends to."""
    forms = [attributes.get("action") or "" for tag, attributes in tags_of(html) if tag == "form"]
    return {action.rsplit("/", 1)[1] for action in forms if action.startswith("/imports/")}


def test_an_import_is_paused_resumed_and_stopped_from_its_report(page: TestClient) -> None:
    where = start(page)
    assert actions_of(page.get(where).text) == {"pause", "cancel"}
    assert page.post(f"{where}/pause").headers["location"] == where
    paused = page.get(where).text
    assert actions_of(paused) == {"resume", "cancel"}
    assert "Go on whenever you like" in text_of(paused)
    assert "Paused" in text_of(page.get("/import").text)
    run_jobs(page)
    assert actions_of(page.get(where).text) == {"resume", "cancel"}
    page.post(f"{where}/resume")
    run_jobs(page)
    done = page.get(where).text
    assert actions_of(done) == set()
    assert "Readable now" in text_of(done)

    other = start(page)
    page.post(f"{other}/pause")
    page.post(f"{other}/cancel")
    assert "Stopped" in text_of(page.get(other).text)


def test_a_trial_run_offers_to_import_for_real(page: TestClient, settings: Settings) -> None:
    where = start(page, dry_run=True)
    run_jobs(page)
    trial = page.get(where).text
    assert actions_of(trial) == {"carry-out"}
    assert "nothing is stored" in text_of(trial)
    assert len(list(settings.uploads_dir.iterdir())) == 1
    made = page.post(f"{where}/carry-out").headers["location"]
    run_jobs(page)
    assert "Readable now" in text_of(page.get(made).text)
    assert list(settings.uploads_dir.iterdir()) == []
    assert actions_of(page.get(where).text) == set()
    assert page.post(f"{where}/carry-out").status_code == 409


def test_a_paused_trial_run_does_not_say_that_anything_is_stored(page: TestClient) -> None:
    where = start(page, dry_run=True)
    page.post(f"{where}/pause")
    paused = page.get(where).text
    assert actions_of(paused) == {"resume", "cancel"}
    assert "it begins anew when it goes on" in text_of(paused)
    assert "is stored and can be searched" not in text_of(paused)


def test_the_import_page_names_more_sources_than_the_two_largest(page: TestClient) -> None:
    text = text_of(page.get("/import").text)
    for name in ("Gemini", "Microsoft Copilot", "~/.claude/projects", "docs/guides/import.md"):
        assert name in text


def test_a_report_says_in_words_what_was_found_and_what_is_new(
    page: TestClient, kernel: Kernel
) -> None:
    where = start(page)
    run_jobs(page)
    change(
        kernel,
        memories_found=2,
        documents_found=1,
        secrets_found=3,
        secrets_by_kind={"OpenAI key": 2, "GitHub token": 1},
        warnings=["A shard is missing."],
        news={"content_type:hologram": 12, "role:oracle": 1, "line:not an object": 2, "odd": 1},
    )
    text = text_of(page.get(where).text)
    assert "2 memories" in text
    assert "1 document " in text
    assert "3 secrets such as API keys were found" in text
    assert "OpenAI key (2), GitHub token" in text
    assert "Revoke or renew each" in text
    assert "A shard is missing." in text
    assert "a kind of content called “hologram” 12 times" in text
    assert "a speaker called “oracle” 1 time" in text
    assert "a line that is no entry 2 times" in text
    assert "“odd” 1 time" in text
    assert "dated Feb 2025" in text


def test_a_report_without_finds_says_nothing_of_them(page: TestClient, bring_in: Importer) -> None:
    text = text_of(page.get(f"/imports/{bring_in(dialogue('a', 'b'))}").text)
    assert "Found beside" not in text
    assert "Worth knowing" not in text


def test_unfinished_uploads_are_shown_and_can_be_discarded(
    page: TestClient, settings: Settings
) -> None:
    assert "Unfinished uploads" not in text_of(page.get("/import").text)
    headers = TUS | {"Upload-Length": "4000", "Upload-Metadata": "filename YS56aXA="}
    page.post("/api/v1/uploads", headers=headers)
    text = text_of(page.get("/import").text)
    assert "Unfinished uploads" in text
    assert "a.zip 0 bytes of 4.0 kB" in text
    assert page.post("/uploads/discard", headers={"X-CSRF-Token": "x"}).status_code == 403
    assert page.post("/uploads/discard").headers["location"] == "/import"
    assert "Unfinished uploads" not in text_of(page.get("/import").text)
    assert list(settings.uploads_dir.iterdir()) == []
