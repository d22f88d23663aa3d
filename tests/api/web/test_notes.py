"""Notes in the web app, without scripts: reading, writing, conflicts, history, deleting."""

import re
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.store.models import Account
from recall.notes.writing import edit_note, write_note
from tests.api.conftest import sign_in
from tests.api.oauth.flow import form_fields
from tests.api.web.pages import csrf_of, links_of, tags_of, text_of

PATH = "work/tasks/auth.md"


@pytest.fixture
def principal(owner: Account) -> Principal:
    return Principal(owner.id, scopes=frozenset(Scope))


@pytest.fixture
def notes(signed_in: TestClient, kernel: Kernel, principal: Principal) -> TestClient:
    """A browser of somebody with three notes."""
    write_note(kernel, principal, PATH, "# Auth\n\nEnable **PKCE** #oauth\n", {"status": "open"})
    write_note(kernel, principal, "work/plan.md", "# Plan\n\nfor the year\n", {"tags": ["big"]})
    write_note(kernel, principal, "ideas.md", "<script>alert(1)</script>\n")
    return signed_in


def send(browser: TestClient, address: str, **fields: Any) -> httpx2.Response:
    return browser.post(address, data={"csrf_token": csrf_of(browser), **fields})


def text_area(page: str) -> str:
    found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)
    assert found
    return found[1].replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">")


def test_notes_are_listed_by_folder_and_tag_and_found_by_a_text(notes: TestClient) -> None:
    page = notes.get("/notes").text
    links = links_of(page)
    assert {f"/notes/{PATH}", "/notes/work/plan.md", "/notes?folder=work%2Ftasks"} <= set(links)
    folder = notes.get("/notes", params={"folder": "work"}).text
    assert "/notes/work/plan.md" in links_of(folder)
    assert f"/notes/{PATH}" not in links_of(folder)
    tagged = text_of(notes.get("/notes", params={"tag": "oauth"}).text)
    assert "Auth" in tagged
    assert "Plan" not in tagged
    found = notes.get("/notes", params={"q": "pkce"}).text
    assert "<mark>PKCE</mark>" in found
    assert "1 match" in text_of(found)
    assert "Nothing found" in text_of(notes.get("/notes", params={"q": "needle"}).text)
    assert notes.get("/notes", params={"folder": "../x"}).status_code == 400


def test_a_note_is_shown_as_markdown_and_never_as_markup(notes: TestClient) -> None:
    page = notes.get(f"/notes/{PATH}").text
    assert "<strong>PKCE</strong>" in page
    assert "status" in text_of(page)
    hostile = notes.get("/notes/ideas.md").text
    assert "alert(1)" in text_of(hostile)
    assert not any(tag == "script" and "src" not in each for tag, each in tags_of(hostile))
    for missing in ("/notes/none.md", "/notes/none", "/notes/.git/config"):
        assert notes.get(missing).status_code in {400, 404}


def test_a_note_is_written_in_a_form_and_its_line_ends_stay(
    notes: TestClient, kernel: Kernel
) -> None:
    page = notes.get("/notes/new", params={"folder": "work"}).text
    assert 'value="work/"' in page
    answer = send(notes, "/notes/new", path="work/new note", text="one\r\n\r\ntwo", action="save")
    assert answer.headers["location"] == "/notes/work/new%20note.md"
    edit = notes.get("/notes/work/new%20note.md/edit").text
    assert text_area(edit) == "one\n\ntwo"
    again = send(notes, "/notes/new", path="work/new note.md", text="x", action="save")
    assert again.status_code == 409
    assert "There is a note at work/new note.md already" in text_of(again.text)
    refused = send(notes, "/notes/new", path="../x.md", text="kept text", action="save")
    assert refused.status_code == 422
    assert text_area(refused.text) == "kept text"


def test_a_preview_shows_the_text_and_saves_nothing(notes: TestClient) -> None:
    fields = form_fields(notes.get(f"/notes/{PATH}/edit").text)
    answer = send(
        notes,
        f"/notes/{PATH}/edit",
        text="---\na: 1\n---\n**bold**",
        version=fields["version"][0],
        action="preview",
    )
    assert "<strong>bold</strong>" in answer.text
    assert text_area(answer.text) == "---\na: 1\n---\n**bold**"
    assert "PKCE" in notes.get(f"/notes/{PATH}").text


def test_a_change_of_somebody_else_is_not_written_over_unseen(
    notes: TestClient, kernel: Kernel, principal: Principal
) -> None:
    version = form_fields(notes.get(f"/notes/{PATH}/edit").text)["version"][0]
    edit_note(kernel, principal, PATH, body="theirs", mode="replace")
    answer = send(notes, f"/notes/{PATH}/edit", text="mine", version=version, action="save")
    assert answer.status_code == 409
    assert text_area(answer.text) == "mine"
    assert "theirs" in notes.get(f"/notes/{PATH}").text
    latest = form_fields(answer.text)["version"][0]
    assert latest != version
    saved = send(notes, f"/notes/{PATH}/edit", text="mine", version=latest, action="save")
    assert saved.status_code == 303
    assert "mine" in notes.get(f"/notes/{PATH}").text


def test_front_matter_that_is_none_is_said_in_words(notes: TestClient) -> None:
    version = form_fields(notes.get(f"/notes/{PATH}/edit").text)["version"][0]
    answer = send(
        notes, f"/notes/{PATH}/edit", text="---\n[\n---\nx", version=version, action="save"
    )
    assert answer.status_code == 422
    assert "front matter is not YAML" in text_of(answer.text)


def test_history_shows_what_changed_and_an_old_text_can_be_had_back(
    notes: TestClient, kernel: Kernel, principal: Principal
) -> None:
    client = Principal(principal.account_id, client_id="brc_writer")
    edit_note(kernel, client, PATH, mode="str_replace", old="PKCE", new="PKCE and PAR")
    page = notes.get(f"/notes/{PATH}/history").text
    assert "diff-removed" in page
    assert "Enable **PKCE and PAR** #oauth" in text_of(page)
    assert "brc_writer" in text_of(page)
    first = notes.get(f"/notes/{PATH}/history", params={"at": 1}).text
    assert "Restore this text" in text_of(first)
    answer = send(notes, f"/notes/{PATH}/restore", revision="1")
    assert answer.status_code == 303
    assert "PAR" not in notes.get(f"/notes/{PATH}").text
    assert notes.get(f"/notes/{PATH}/history", params={"at": 9}).status_code == 404


def test_a_note_is_deleted_had_back_and_taken_away_for_good(notes: TestClient) -> None:
    answer = send(notes, f"/notes/{PATH}/delete")
    assert answer.headers["location"] == "/notes?folder=work%2Ftasks"
    assert f"/notes/{PATH}" not in links_of(notes.get("/notes").text)
    assert f"/notes/{PATH}" in links_of(notes.get("/notes/deleted").text)
    assert "was deleted" in text_of(notes.get(f"/notes/{PATH}").text)
    send(notes, f"/notes/{PATH}/restore")
    assert f"/notes/{PATH}" in links_of(notes.get("/notes").text)
    send(notes, f"/notes/{PATH}/delete")
    assert send(notes, f"/notes/{PATH}/purge").headers["location"] == "/notes/deleted"
    assert notes.get(f"/notes/{PATH}").status_code == 404


def test_forms_without_their_token_change_nothing(notes: TestClient) -> None:
    for ending in ("edit", "delete", "restore", "purge"):
        answer = notes.post(f"/notes/{PATH}/{ending}", data={"text": "x"})
        assert answer.status_code == 403
    assert notes.post("/notes/new", data={"path": "x.md", "text": "x"}).status_code == 403
    assert "PKCE" in notes.get(f"/notes/{PATH}").text


def test_another_accounts_notes_have_no_page(notes: TestClient, kernel: Kernel) -> None:
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash="unused", role="member")
        session.add(other)
    sign_in(notes, kernel, other)
    assert "No notes yet" in text_of(notes.get("/notes").text)
    for ending in ("", "/edit", "/history"):
        assert notes.get(f"/notes/{PATH}{ending}").status_code == 404


def test_a_note_shows_its_tasks_and_leads_to_the_notes_that_it_names(
    notes: TestClient, kernel: Kernel, principal: Principal
) -> None:
    text = (
        "- [ ] open\n- [x] closed\n\n[[work/plan]] [[plan.md|the <b>year</b>]] [[../x]] "
        "[[gone|away]] [[ideas#top]] `[[ideas]]`\n\n<input type=text onfocus=alert(1)>\n"
    )
    write_note(kernel, principal, "work/today.md", text)
    page = notes.get("/notes/work/today.md").text
    body = page[page.index('class="prose"') :]
    boxes = [found for tag, found in tags_of(body) if tag == "input"]
    assert [(each["type"], "disabled" in each, "checked" in each) for each in boxes] == [
        ("checkbox", True, False),
        ("checkbox", True, True),
    ]
    assert links_of(body)[:3] == ["/notes/work/plan.md", "/notes/work/plan.md", "/notes/ideas.md"]
    assert "the &lt;b&gt;year&lt;/b&gt;" in body
    assert "../x away" in text_of(body)
    assert "[[ideas]]" in text_of(body)
    assert not [name for _, found in tags_of(body) for name in found if name.startswith("on")]
