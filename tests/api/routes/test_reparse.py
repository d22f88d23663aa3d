"""Reading conversations again after an upgrade."""

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.store.models import Account, Capture, Conversation, Message
from tests.api.archive import Importer, run_jobs
from tests.api.conftest import sign_in
from tests.api.exports import dialogue
from tests.api.web.pages import csrf_of, text_of

REPARSE = "/api/v1/reparse"


@pytest.fixture
def api(signed_in: TestClient) -> TestClient:
    signed_in.headers.update({"X-CSRF-Token": csrf_of(signed_in)})
    return signed_in


def make_old(kernel: Kernel, *titles: str) -> None:
    """As an older release would have left them: read by its parser, and read badly."""
    with kernel.store.write() as session:
        old = update(Conversation).values(parser_version=0, title="as read long ago")
        session.execute(old.where(Conversation.title.in_(titles)))


def titles_of(api: TestClient) -> set[str]:
    return {each["title"] for each in api.get("/api/v1/conversations").json()["items"]}


def test_what_an_older_release_has_read_is_offered_and_read_again(
    api: TestClient, bring_in: Importer, kernel: Kernel
) -> None:
    bring_in(*(dialogue("a", "b", title=f"T{n}", identity=str(n)) for n in range(50)))
    assert api.get(REPARSE).json() == {"outdated": 0, "job": None}
    assert "can be read better" not in text_of(api.get("/import").text)
    make_old(kernel, *(f"T{n}" for n in range(45)))
    assert api.get(REPARSE).json()["outdated"] == 45
    page = text_of(api.get("/import").text)
    assert "45 conversations can be read better by this version" in page

    asked = api.post(REPARSE)
    assert asked.status_code == 202
    assert asked.json()["job"]["state"] == "queued"
    assert api.post(REPARSE).json()["job"]["id"] == asked.json()["job"]["id"]
    assert "Reading 45 conversations again" in text_of(api.get("/import").text)
    run_jobs(api)
    assert titles_of(api) == {f"T{n}" for n in range(50)}
    assert api.get(REPARSE).json() == {"outdated": 0, "job": None}
    assert api.post(REPARSE).json() == {"outdated": 0, "job": None}


def test_the_pages_button_does_it(api: TestClient, bring_in: Importer, kernel: Kernel) -> None:
    bring_in(dialogue("a", "b", title="Kiln"))
    make_old(kernel, "Kiln")
    answer = api.post("/import/read-again")
    assert (answer.status_code, answer.headers["location"]) == (303, "/import")
    run_jobs(api)
    assert titles_of(api) == {"Kiln"}


def test_only_outdated_conversations_are_read(
    api: TestClient, bring_in: Importer, kernel: Kernel
) -> None:
    bring_in(dialogue("a", title="Old", identity="1"), dialogue("b", title="New", identity="2"))
    make_old(kernel, "Old")
    with kernel.store.write() as session:
        session.execute(update(Message).values(text="changed by hand"))
    api.post(REPARSE)
    run_jobs(api)
    with kernel.store.read() as session:
        texts = {message.text for message in session.query(Message)}
    assert texts == {"a", "changed by hand"}


def test_a_conversation_that_no_parser_reads_keeps_what_it_has_and_is_not_asked_for_again(
    api: TestClient, bring_in: Importer, kernel: Kernel
) -> None:
    bring_in(dialogue("a", title="Old", identity="1"), dialogue("b", title="Lost", identity="2"))
    make_old(kernel, "Old", "Lost")
    with kernel.store.write() as session:
        damaged = update(Capture).where(Capture.external_id == "2").values(body=b"no zstd")
        session.execute(damaged)
    api.post(REPARSE)
    run_jobs(api)
    assert titles_of(api) == {"Old", "as read long ago"}
    assert api.get(REPARSE).json()["outdated"] == 0


def test_it_is_the_accounts_own_and_needs_the_forms_token(
    api: TestClient, bring_in: Importer, kernel: Kernel
) -> None:
    bring_in(dialogue("a", title="Old"))
    make_old(kernel, "Old")
    assert api.post(REPARSE, headers={"X-CSRF-Token": "x"}).status_code == 403
    other = Account(email="boris@example.org", password_hash="unused", role="member")
    with kernel.store.write() as session:
        session.add(other)
    sign_in(api, kernel, other)
    assert api.get(REPARSE).json() == {"outdated": 0, "job": None}
    api.cookies.clear()
    assert api.get(REPARSE).status_code == 401
