import re

import pytest
from starlette.testclient import TestClient

from backread.jobs import run_pending
from backread.kernel import Kernel
from ingest import tasks
from tests.api.accounts.forms import send, shown_secret
from tests.api.mcp_server.calls import Caller
from tests.api.web.pages import links_of, text_of

__all__ = ["tasks"]  # importing the module registers the jobs

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
def folder(signed_in: TestClient) -> str:
    """The address of a new folder."""
    answer = send(signed_in, "/folders", "/folders", name="Harbour", generate_embeddings="true")
    return answer.headers["location"].partition("?")[0]


def new_record(browser: TestClient, folder: str, **fields: str) -> str:
    given = {"name": "Piers", "content": "Pier 2 needs new oak planks.", "metadata": "", **fields}
    answer = send(browser, f"{folder}/new", f"{folder}/records", **given)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def test_a_folder_is_made_and_a_key_let_in_from_the_page(
    signed_in: TestClient, folder: str
) -> None:
    page = signed_in.get(f"{folder}?done=made").text
    assert "No records yet" in page
    made = send(signed_in, folder, f"{folder}/keys", name="Robot", days="7")
    key = shown_secret(made.text, r"brf_[A-Za-z0-9_-]{43}")
    assert '"mcpServers"' in made.text.replace("&#34;", '"')
    assert Caller(signed_in, key, path="/mcp/memories").rpc("tools/list").status_code == 200
    page = signed_in.get(folder).text
    assert key not in page
    assert "Robot" in page
    key_id = re.search(r"/keys/([a-z0-9]{26})/revoke", page)
    assert key_id
    send(signed_in, folder, f"{folder}/keys/{key_id[1]}/revoke")
    assert Caller(signed_in, key, path="/mcp/memories").rpc("tools/list").status_code == 401


def test_each_label_of_the_record_form_names_one_field(signed_in: TestClient, folder: str) -> None:
    page = signed_in.get(f"{folder}/new").text
    labelled = re.findall(r'<label for="([^"]+)"', page)
    assert len(labelled) == 4
    assert [page.count(f' id="{each}"') for each in labelled] == [1, 1, 1, 1]


def test_a_record_is_written_found_edited_and_restored(
    signed_in: TestClient, kernel: Kernel, folder: str
) -> None:
    record = new_record(signed_in, folder, metadata='status = active\r\nyear = 2026\r\ncode = "7"')
    run_pending(kernel)
    page = signed_in.get(record).text
    assert "Pier 2 needs new oak planks." in page
    assert "<code>2026</code>" in page
    found = signed_in.get(folder, params={"q": "oak planks of pier 2"}).text
    assert "similarity" in found
    assert f"{record}?start=0" in found
    form = signed_in.get(f"{record}/edit").text
    assert "code = &#34;7&#34;" in form
    saved = send(
        signed_in,
        f"{record}/edit",
        record,
        name="Piers",
        content="All fine.",
        metadata="status = done",
        revision="1",
    )
    assert saved.status_code == 303
    late = send(signed_in, f"{record}/edit", record, name="Piers", content="Late.", revision="1")
    assert late.status_code == 409
    assert "Late." in late.text
    difference = signed_in.get(f"{record}/history").text
    assert "diff-removed" in difference
    assert "metadata: status = done" in difference
    first = signed_in.get(f"{record}/history", params={"at": 1}).text
    assert "Restore this revision" in first
    assert signed_in.get(f"{record}/history", params={"at": 3}).status_code == 404
    send(signed_in, f"{record}/edit", f"{record}/delete")
    assert signed_in.get(record).status_code == 404
    listed = signed_in.get(folder).text
    assert "1 deleted record" in listed
    send(signed_in, folder, f"{record}/restore")
    assert "All fine." in signed_in.get(record).text
    send(signed_in, f"{record}/edit", f"{record}/delete")
    assert "Here the record was deleted." in signed_in.get(f"{record}/history").text
    purged = send(signed_in, folder, f"{record}/purge")
    assert purged.headers["location"].endswith("?done=purged")
    assert signed_in.get(f"{record}/history").status_code == 404


def test_what_cannot_be_saved_comes_back_with_the_reason_and_the_text(
    signed_in: TestClient, folder: str
) -> None:
    answer = send(
        signed_in,
        f"{folder}/new",
        f"{folder}/records",
        name="Piers",
        content="Long written text.",
        metadata="no sign here",
    )
    assert answer.status_code == 400
    assert "Long written text." in answer.text
    assert "status = active" in answer.text


def test_hostile_names_and_contents_are_only_text(signed_in: TestClient, folder: str) -> None:
    bad = "<script>alert(1)</script>"
    record = new_record(
        signed_in,
        folder,
        name=bad,
        content=f"{bad}\n\n[x](javascript:alert(1)) ![y](http://evil.example/y.png)",
        metadata=f"{bad} = {bad}",
    )
    for path in (record, folder, f"{record}/edit", f"{record}/history?at=1", f"{folder}?q=script"):
        page = signed_in.get(path).text
        assert "<script>alert" not in page
        assert 'href="javascript' not in page
        assert 'src="http://evil.example' not in page


def test_a_folder_is_deleted_only_by_its_name(signed_in: TestClient, folder: str) -> None:
    new_record(signed_in, folder)
    refused = send(signed_in, folder, f"{folder}/delete", name="Harbor")
    assert refused.status_code == 400
    gone = send(signed_in, folder, f"{folder}/delete", name="Harbour")
    assert gone.headers["location"] == "/folders?gone=1"
    assert "1 record" in signed_in.get(gone.headers["location"]).text
    assert signed_in.get(folder).status_code == 404


def test_the_search_of_everything_shows_records_too(
    signed_in: TestClient, kernel: Kernel, folder: str
) -> None:
    record = new_record(signed_in, folder)
    deleted = new_record(signed_in, folder, name="Old piers", content="Piers that are gone.")
    send(signed_in, deleted, f"{deleted}/delete")
    at_once = signed_in.get("/search?q=piers").text
    assert "In your folders" in at_once
    assert record in links_of(at_once)
    assert deleted not in links_of(at_once)
    run_pending(kernel)
    by_words = signed_in.get("/search?q=new+oak+planks").text
    assert record in links_of(by_words)
    assert "In your folders" not in signed_in.get("/search?q=zeppelin").text


def test_the_connections_page_names_the_address_of_folders(signed_in: TestClient) -> None:
    html = signed_in.get("/connections").text
    assert re.search(r"https?://[^<\"]+/mcp/memories\b", html)
    assert "an access key says which folder it is" in text_of(html)
