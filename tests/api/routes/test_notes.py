"""Notes over REST: versions, conflicts, history, limits."""

from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.request_limits import RequestLimit
from backread.domain import Principal
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account
from tests.api.conftest import sign_in
from tests.api.web.pages import csrf_of

PATH = "/api/v1/notes"


class Notes:
    """Requests of the signed-in owner."""

    def __init__(self, browser: TestClient) -> None:
        self.browser = browser
        browser.headers["X-CSRF-Token"] = csrf_of(browser)

    def put(self, path: str, body: str, headers: Any = None, **values: Any) -> httpx2.Response:
        content = {"body": body, "frontmatter": values}
        return self.browser.put(f"{PATH}/{path}", json=content, headers=headers)

    def get(self, path: str, **params: Any) -> httpx2.Response:
        return self.browser.get(f"{PATH}/{path}", params=params)

    def patch(self, path: str, headers: Any = None, **change: Any) -> httpx2.Response:
        return self.browser.patch(f"{PATH}/{path}", json=change, headers=headers)

    def delete(self, path: str, headers: Any = None, **params: Any) -> httpx2.Response:
        return self.browser.delete(f"{PATH}/{path}", headers=headers, params=params)

    def restore(self, path: str, headers: Any = None, **wanted: Any) -> httpx2.Response:
        return self.browser.post(f"{PATH}/{path}/restore", json=wanted, headers=headers)


@pytest.fixture
def notes(signed_in: TestClient) -> Notes:
    return Notes(signed_in)


def test_a_note_is_made_read_changed_and_deleted(notes: Notes) -> None:
    made = notes.put("work/a.md", "# A\n\none", tags=["x"])
    assert made.status_code == 201
    assert made.json()["revision"] == 1
    read = notes.get("work/a.md")
    assert read.headers["etag"] == made.headers["etag"]
    assert read.json()["body"] == "# A\n\none"
    again = notes.put("work/a.md", "# A\n\none", tags=["x"])
    assert (again.status_code, again.json()["revision"]) == (200, 1)  # changes nothing
    changed = notes.patch("work/a.md", mode="str_replace", old_str="one", new_str="two")
    assert changed.json()["revision"] == 2
    gone = notes.delete("work/a.md")
    assert gone.json() == {"path": "work/a.md", "deleted": True, "permanently": False}
    assert notes.get("work/a.md").json()["deleted"] is True
    assert notes.delete("work/a.md").status_code == 404


def test_only_the_version_that_was_seen_is_changed(notes: Notes) -> None:
    old = notes.put("a.md", "one").headers["etag"]
    new = notes.put("a.md", "two").headers["etag"]
    assert old != new
    stale = {"If-Match": old}
    for answer in (
        notes.put("a.md", "three", headers=stale),
        notes.patch("a.md", headers=stale, body="three"),
        notes.delete("a.md", headers=stale),
        notes.restore("a.md", headers=stale, revision=1),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert notes.get("a.md").json()["body"] == "two"
    assert notes.put("a.md", "three", headers={"If-Match": new}).status_code == 200
    assert notes.put("b.md", "x", headers={"If-Match": "*"}).status_code == 409
    assert notes.put("a.md", "x", headers={"If-None-Match": "*"}).status_code == 409
    assert notes.put("b.md", "x", headers={"If-None-Match": "*"}).status_code == 201
    for odd in ("W/" + new, "abc", '"a", "b"'):
        assert notes.put("a.md", "x", headers={"If-Match": odd}).status_code == 400


def test_what_was_not_changed_is_not_sent_again(notes: Notes) -> None:
    etag = notes.put("a.md", "one").headers["etag"]
    answer = notes.browser.get(f"{PATH}/a.md", headers={"If-None-Match": etag})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == etag


def test_every_change_is_in_the_history_and_can_be_compared_and_restored(notes: Notes) -> None:
    notes.put("a.md", "one\ntwo\n", status="open")
    notes.put("a.md", "one\n2\n", status="open")
    notes.delete("a.md")
    assert notes.restore("a.md").json()["revision"] == 4
    history = notes.get("a.md/history").json()
    assert [each["kind"] for each in history["items"]] == ["restore", "delete", "write", "write"]
    assert history["items"][1]["deleted"] is True
    assert history["next_before"] is None
    first = notes.get("a.md/history/1").json()
    assert first["text"] == "---\nstatus: open\n---\none\ntwo\n"
    diff = notes.get("a.md/diff", new=2).json()
    assert [each["text"] for each in diff["lines"] if each["kind"] == "removed"] == ["two"]
    assert [each["text"] for each in diff["lines"] if each["kind"] == "added"] == ["2"]
    assert "-two\n+2\n" in diff["patch"]
    assert notes.get("a.md/diff", old=0, new=1).json()["lines"][0]["kind"] == "added"
    notes.restore("a.md", revision=1)
    assert notes.get("a.md").json()["body"] == "one\ntwo\n"
    assert notes.restore("a.md", revision=3).status_code == 400
    for address in ("a.md/history/9", "a.md/history/0", "b.md/history"):
        assert notes.get(address).status_code == 404


def test_a_deleted_note_can_be_taken_away_for_good(notes: Notes) -> None:
    notes.put("a.md", "secret words")
    assert notes.delete("a.md", permanently=True).status_code == 409
    notes.delete("a.md")
    assert [each["path"] for each in notes.get("deleted").json()["items"]] == ["a.md"]
    assert notes.delete("a.md", permanently=True).json()["permanently"] is True
    assert notes.get("a.md").status_code == 404
    assert notes.get("deleted").json()["items"] == []


def test_lists_and_search_are_those_of_the_tools(notes: Notes) -> None:
    notes.put("work/a.md", "needle #x")
    notes.put("b.md", "needle needle")
    found = notes.get("search", q="needle", limit=1).json()
    assert [each["path"] for each in found["results"]] == ["b.md"]
    rest = notes.get("search", q="needle", cursor=found["nextCursor"]).json()
    assert [each["path"] for each in rest["results"]] == ["work/a.md"]
    assert "nextCursor" not in rest
    tree = notes.browser.get(PATH, params={"tag": "x"}).json()
    assert [each["path"] for each in tree["entries"]] == ["work"]
    assert notes.get("tags").json()["items"] == [{"tag": "x", "notes": 1}]


def test_a_path_that_is_none_is_a_bad_request(notes: Notes) -> None:
    for path in ("a.txt", ".git/a.md", "a/.hidden.md"):
        answer = notes.put(path, "x")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
        assert answer.json()["hint"]


def test_answers_say_how_many_requests_are_left_and_refuse_further_ones(
    settings: Settings, notes: Notes, kernel: Kernel, owner: Account
) -> None:
    answer = notes.get("tags")
    assert answer.headers["ratelimit-policy"] == '"notes";q=60;w=60'
    assert answer.headers["ratelimit"] == '"notes";r=59;t=1'
    app = notes.browser.app
    app.state.notes_limit = RequestLimit("notes", 2)  # type: ignore[attr-defined]
    assert notes.get("tags").headers["ratelimit"] == '"notes";r=1;t=30'
    assert notes.get("nothing.md").headers["ratelimit"] == '"notes";r=0;t=60'
    answer = notes.get("tags")
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert answer.headers["retry-after"] == "30"
    assert answer.headers["ratelimit"].startswith('"notes";r=0;t=')
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash="unused", role="member")
        session.add(other)
    sign_in(notes.browser, kernel, other)
    assert notes.get("tags").status_code == 200


def test_the_setting_says_how_many_requests_there_are(settings: Settings) -> None:
    app = create_app(settings.model_copy(update={"notes_requests_per_minute": 7}))
    headers, refusal = app.state.notes_limit.take(Principal("a"))
    assert headers["RateLimit-Policy"] == '"notes";q=7;w=60'
    assert refusal is None


def test_another_accounts_notes_are_not_there(notes: Notes, kernel: Kernel) -> None:
    notes.put("a.md", "needle")
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash="unused", role="member")
        session.add(other)
    sign_in(notes.browser, kernel, other)
    for address in ("a.md", "a.md/history", "a.md/history/1", "a.md/diff"):
        assert notes.get(address).status_code == 404
    assert notes.get("search", q="needle").json()["results"] == []
