"""The pages of documents: uploaded ones, and what projects hold."""

import re

import pytest
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.settings import Settings
from tests.api.archive import Importer
from tests.api.documents import add_file, send_files
from tests.api.exports import dialogue
from tests.api.finds import KEY, bring_finds
from tests.api.web.pages import csrf_of, links_of, tags_of, text_of
from tests.ingest.documents.makers import encrypted_pdf, pdf, xlsx

LONG = "The oven is cleaned each month. "


def press(browser: TestClient, path: str, **fields: str) -> str:
    """Sends a form of the page; the page that follows."""
    answer = browser.post(path, data={"csrf_token": csrf_of(browser), **fields})
    if answer.status_code == 303:
        answer = browser.get(answer.headers["location"])
    return answer.text


def test_files_are_listed_by_project_and_the_side_bar_leads_there(
    signed_in: TestClient,
) -> None:
    assert "/files" in links_of(signed_in.get("/").text)
    assert "No files yet" in text_of(signed_in.get("/files").text)
    bring_finds(signed_in)
    text = text_of(signed_in.get("/files").text)
    assert "Kiln & co" in text
    assert "Project instructions" in text
    assert "../Töpfe.md" in text


def test_uploads_are_listed_with_their_state_and_what_is_wrong(signed_in: TestClient) -> None:
    add_file(signed_in, "Oven.pdf", pdf([LONG * 4, LONG * 4]), bucket="Home")
    add_file(signed_in, "locked.pdf", encrypted_pdf(), bucket="Home")
    send_files(signed_in, ("new.txt", b"words to come"))
    html = signed_in.get("/files").text
    text = text_of(html)
    assert "Home 2 files" in text
    assert "Oven.pdf Ready" in text
    assert "PDF, 2 pages" in text
    assert "locked.pdf Not read" in text
    assert "The file is encrypted with a password. Save it without" in text
    assert "new.txt Waiting" in text
    lists = [found for tag, found in tags_of(html) if "data-file-list" in found]
    assert "data-moving" in lists[0]


def test_the_viewer_turns_pages_and_marks_the_passage(signed_in: TestClient) -> None:
    file_id = add_file(signed_in, "Oven <b>.pdf", pdf([LONG * 3, "Warranty <i>\n" + LONG * 3]))
    first = signed_in.get(f"/files/{file_id}").text
    assert f"/files/{file_id}?page=2" in links_of(first)
    assert "<mark" not in first
    second = signed_in.get(f"/files/{file_id}?page=2&passage=1").text
    marked = re.search(r'<mark id="passage" class="passage">(.*?)</mark>', second, re.DOTALL)
    assert marked
    assert marked[1].startswith("Warranty &lt;i&gt;")
    assert f"/files/{file_id}?page=1" in links_of(second)
    assert f"/api/v1/files/{file_id}/original" in links_of(second)
    assert "<b>" not in second.replace("<b>Ada</b>", "").split("page-head")[1]
    lost = text_of(signed_in.get(f"/files/{file_id}?page=1&passage=99").text)
    assert "The passage that led here is gone." in lost
    assert signed_in.get(f"/files/{file_id}?page=3").status_code == 404
    assert signed_in.get(f"/files/{'0' * 26}").status_code == 404


def test_the_viewer_marks_rows_of_a_table(signed_in: TestClient) -> None:
    rows = [["Plant", "Water"], ["Fern", "<3 days>"], ["Cactus", "30 days"]]
    escaped = [[str(cell).replace("<", "&lt;") for cell in row] for row in rows]
    file_id = add_file(signed_in, "Garden.xlsx", xlsx({"Beds": escaped}))
    html = signed_in.get(f"/files/{file_id}?page=1&passage=0").text
    marked = [found for tag, found in tags_of(html) if found.get("class") == "is-marked"]
    assert [found.get("id") for found in marked] == ["passage", None]
    assert "<td>&lt;3 days&gt;</td>" in html


def test_a_search_leads_to_the_page(signed_in: TestClient) -> None:
    file_id = add_file(signed_in, "Oven.pdf", pdf([LONG * 3, "The warranty is three years. " * 4]))
    html = signed_in.get("/files/search?q=warranty").text
    assert f"/files/{file_id}?page=2&passage=1#passage" in links_of(html)
    assert "page 2" in text_of(html)
    assert "<mark>warranty</mark>" in html
    nothing = text_of(signed_in.get("/files/search?q=whales+in+winter").text)
    assert "Nothing in the files speaks of “whales in winter”." in nothing
    assert "There is no file bucket" in text_of(
        signed_in.get("/files/search?q=warranty&bucket=999").text
    )


def test_the_search_of_everything_shows_files_too(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(dialogue("When does the kiln fire?", "At noon."))
    file_id = add_file(signed_in, "Oven.md", b"# Kiln\n\nThe kiln fires at noon.")
    html = signed_in.get("/search?q=kiln+noon").text
    assert f"/files/{file_id}?page=1&passage=0#passage" in links_of(html)
    assert "/files/search?q=kiln%20noon" in links_of(html)


def test_deleting_shows_what_was_removed(signed_in: TestClient) -> None:
    file_id = add_file(signed_in, "Oven.md", b"# Oven\n\nClean it each month.")
    text = text_of(press(signed_in, f"/files/{file_id}/delete"))
    assert "Deleted: Oven.md" in text
    assert "1 original and 1 passage are gone from the database" in text
    assert signed_in.get(f"/files/{file_id}").status_code == 404


def test_buckets_are_made_renamed_and_deleted(signed_in: TestClient) -> None:
    assert "Attic" in text_of(press(signed_in, "/file-buckets", name="Attic"))
    (action,) = re.findall(r'action="(/file-buckets/\d+)/rename"', signed_in.get("/files").text)
    assert "Cellar" in text_of(press(signed_in, f"{action}/rename", name="Cellar"))
    assert "1 to 200 characters" in text_of(press(signed_in, f"{action}/rename", name=" "))
    assert "1 to 200 characters" in text_of(press(signed_in, "/file-buckets", name="x" * 201))
    assert "Deleted: 0 files" in text_of(press(signed_in, f"{action}/delete"))
    assert "Cellar" not in text_of(signed_in.get("/files").text)


def test_a_failed_file_is_tried_again(
    signed_in: TestClient, settings: Settings, kernel: Kernel
) -> None:
    kernel.settings = settings.model_copy(update={"file_max_pages": 1})
    file_id = add_file(signed_in, "Oven.pdf", pdf([LONG * 3, LONG * 3]))
    assert "more than are allowed" in text_of(signed_in.get(f"/files/{file_id}").text)
    assert "Oven.pdf Waiting" in text_of(press(signed_in, f"/files/{file_id}/read-again"))


@pytest.mark.parametrize("path", ["/files/x/delete", "/files/x/read-again", "/file-buckets"])
def test_forms_need_their_token(signed_in: TestClient, path: str) -> None:
    assert signed_in.post(path, data={"name": "x"}).status_code == 403


def test_a_file_is_shown_safely_and_can_be_downloaded(signed_in: TestClient) -> None:
    bring_finds(signed_in)
    listing = signed_in.get("/files").text
    addresses = [link for link in links_of(listing) if re.fullmatch(r"/files/\w{26}", link)]
    instructions, pots = (signed_in.get(address).text for address in addresses)
    assert "Be <strong>brief</strong>." in instructions
    assert "<script>alert(1)</script>" in text_of(pots)
    scripts = [found for tag, found in tags_of(pots) if tag == "script"]
    assert all(found.get("src") for found in scripts)
    (download,) = [link for link in links_of(pots) if link.endswith("/download")]
    assert signed_in.get(download).status_code == 200
    assert signed_in.get(f"/files/{'0' * 26}").status_code == 404


def test_conversations_with_keys_can_be_picked_out_and_the_reader_warns(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(dialogue("Nothing secret", "No.", identity="plain"))
    assert "keys or passwords" not in text_of(signed_in.get("/conversations").text)
    bring_finds(signed_in)
    html = signed_in.get("/conversations?has_secrets=true").text
    (chat,) = {link for link in links_of(html) if link.startswith("/c/")}
    assert "1 key or password" in text_of(html)
    assert "1 conversation matches" in text_of(html)
    reader = text_of(signed_in.get(chat).text)
    assert "This conversation holds 1 key or password. 1 × Stripe key" in reader
    assert KEY in reader  # its own owner may read it


def test_what_is_used_is_told_as_the_files_are(signed_in: TestClient) -> None:
    add_file(signed_in, "Oven.md", b"kiln " * 4200)
    text = text_of(signed_in.get("/files").text)
    assert "21 kB of" in text
    assert "21 kB" in text.partition("21 kB of")[0]
