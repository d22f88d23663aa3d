"""The Activity page: what runs, waits, failed and was done."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from backread.jobs import enqueue
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Account, Job
from tests.api.archive import Importer
from tests.api.exports import dialogue, zipped
from tests.api.web.pages import csrf_of, tags_of, text_of


@pytest.fixture
def page(signed_in: TestClient) -> TestClient:
    signed_in.headers["X-CSRF-Token"] = csrf_of(signed_in)
    return signed_in


def add(kernel: Kernel, name: str, account_id: str | None, **values: Any) -> str:
    with kernel.store.write() as session:
        job_id = enqueue(session, name, account_id=account_id)
        if values:
            session.execute(update(Job).where(Job.id == job_id).values(**values))
    return job_id


def actions_of(html: str) -> set[str]:
    forms = [attributes.get("action") or "" for tag, attributes in tags_of(html) if tag == "form"]
    return {action.rsplit("/", 1)[1] for action in forms if action.startswith("/activity/")}


def test_an_idle_server_says_so(page: TestClient) -> None:
    text = text_of(page.get("/activity").text)
    assert "Nothing. Everything is up to date." in text
    assert "Nothing yet. What ends stays here for a while" in text


def test_a_running_job_shows_how_far_it_is_how_fast_and_how_long_it_takes(
    page: TestClient, kernel: Kernel, owner: Account
) -> None:
    add(
        kernel,
        "ingest.embed_passages",
        owner.id,
        state="running",
        started_at=utcnow(),
        lease_until=utcnow(),
        done_units=400,
        total_units=1600,
        units_per_second=8.0,
    )
    text = text_of(page.get("/activity").text)
    assert "Search by meaning: conversations" in text
    assert "400 of 1,600 passages" in text
    assert "8.0 a second" in text
    assert "about 2 minutes left" in text


def test_a_waiting_import_is_stopped_or_paused_from_here(page: TestClient) -> None:
    page.post("/api/v1/imports", files={"files": ("export.zip", zipped(dialogue("a", "b")))})
    html = page.get("/activity").text
    assert "export.zip" in text_of(html)
    assert actions_of(html) == {"pause", "stop"}
    job_id = page.get("/api/v1/jobs?state=open").json()["items"][0]["id"]
    assert page.post(f"/activity/{job_id}/pause").headers["location"].startswith("/imports/")
    assert actions_of(page.get("/activity").text) == set()


def test_embedding_is_paused_and_let_go_on_from_here(
    page: TestClient, kernel: Kernel, owner: Account
) -> None:
    job_id = add(kernel, "ingest.embed_passages", owner.id)
    assert actions_of(page.get("/activity").text) == {"pause"}
    page.post(f"/activity/{job_id}/pause")
    html = page.get("/activity").text
    assert "Paused" in text_of(html)
    assert actions_of(html) == {"resume"}
    page.post(f"/activity/{job_id}/resume")
    html = page.get("/activity").text
    assert "Paused" not in text_of(html)
    assert actions_of(html) == {"pause"}


def test_what_a_job_left_out_is_told(page: TestClient, kernel: Kernel, owner: Account) -> None:
    ended = {"state": "done", "finished_at": utcnow(), "started_at": utcnow()}
    add(kernel, "recall.derive_records", owner.id, left_out=1, done_units=9, **ended)
    add(kernel, "recall.derive_records", owner.id, done_units=9, **ended)
    text = text_of(page.get("/activity").text)
    assert "1 item could not be read and was left out" in text


def test_what_failed_is_tried_again_or_dismissed_one_by_one_and_all_together(
    page: TestClient, kernel: Kernel, owner: Account
) -> None:
    ids = [
        add(
            kernel,
            "ingest.read_again",
            owner.id,
            state="dead",
            error="The disk is full.",
            finished_at=utcnow(),
        )
        for _ in range(4)
    ]
    html = page.get("/activity").text
    assert "The disk is full." in text_of(html)
    assert "4 jobs failed" in html, "beside the navigation's entry"
    assert actions_of(html) == {"retry", "dismiss", "retry-failed", "dismiss-failed"}
    assert page.post(f"/activity/{ids[0]}/dismiss").headers["location"] == "/activity"
    page.post(f"/activity/{ids[1]}/retry")
    assert page.get("/api/v1/jobs/summary").json()["failed"] == 2
    page.post("/activity/dismiss-failed")
    assert page.get("/api/v1/jobs/summary").json()["failed"] == 0
    assert "Failed 4" not in text_of(page.get("/activity").text)


def test_all_that_failed_waits_again_after_one_press(
    page: TestClient, kernel: Kernel, owner: Account
) -> None:
    for _ in range(2):
        add(kernel, "ingest.read_again", owner.id, state="failed", finished_at=utcnow())
    page.post("/activity/retry-failed")
    summary = page.get("/api/v1/jobs/summary").json()
    assert (summary["queued"], summary["failed"]) == (2, 0)


def test_what_was_done_lately_is_told_with_its_time(page: TestClient, bring_in: Importer) -> None:
    bring_in(dialogue("a", "b"))
    text = text_of(page.get("/activity").text)
    assert "Import export.zip" in text
    assert "took under a second" in text or "took 1 second" in text


def test_only_owners_see_the_sizes_of_the_servers_queues(
    page: TestClient, kernel: Kernel, owner: Account
) -> None:
    other = Account(email="eve@example.org", password_hash="unused", role="member")
    with kernel.store.write() as session:
        session.add(other)
    add(kernel, "ingest.embed_memories", other.id)
    text = text_of(page.get("/activity").text)
    assert "This server" in text
    assert "Search by meaning: memories 0 1 0" in text
    with kernel.store.write() as session:
        session.execute(update(Account).where(Account.id == owner.id).values(role="member"))
    assert "This server" not in text_of(page.get("/activity").text)


def test_what_was_done_again_and_again_is_one_line_among_the_imports(
    page: TestClient, kernel: Kernel, owner: Account, bring_in: Importer
) -> None:
    bring_in(dialogue("When does the kiln fire?", "At noon."))
    now = utcnow()
    for minutes in (1, 2, 3, 200):
        for name in ("recall.categorise_bucket", "recall.derive_records"):
            done_at = now - timedelta(minutes=minutes)
            add(kernel, name, owner.id, state="done", started_at=done_at, finished_at=done_at)
    text = text_of(page.get("/activity").text)
    assert text.count("Sorting memories into categories") == 2  # hours lie between the two
    assert text.count("3 times since") == 2
    assert "Import " in text
