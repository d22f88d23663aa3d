import hashlib
from urllib.parse import unquote

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import (
    Account,
    File,
    FileOriginal,
    FilePage,
    FilePassage,
    FileVersion,
    IndexRemoval,
)
from backread.vectors.index import Collection
from tests.api.archive import run_jobs
from tests.api.conftest import PASSWORD, sign_in
from tests.api.documents import add_file, headers, send_files
from tests.api.finds import bring_finds
from tests.ingest.documents.makers import encrypted_pdf, pdf, xlsx

PATH = "/api/v1/files"
MANUAL = pdf(
    [
        "The oven\nRead this before the first use of the oven. It will help you to keep it well.",
        "Warranty\nParts and labour are covered for three years from the date of the receipt.",
    ]
)


def found(browser: TestClient, query: str, **where: int) -> list[tuple[str, str]]:
    """Names and places of what a search finds."""
    answer = browser.get(f"{PATH}/search", params={"q": query, **where}).json()
    assert answer["found"] is bool(answer["passages"])
    return [(each["file_name"], each["location"]) for each in answer["passages"]]


def rows(kernel: Kernel) -> dict[str, int]:
    tables = (File, FileOriginal, FilePage, FilePassage, FileVersion)
    with kernel.store.read() as session:
        return {
            table.__tablename__: session.scalar(select(func.count()).select_from(table)) or 0
            for table in tables
        }


def test_a_document_is_read_and_found_with_its_page(signed_in: TestClient) -> None:
    file_id = add_file(signed_in, "Oven.pdf", MANUAL)
    file = signed_in.get(f"{PATH}/{file_id}").json()
    assert (file["state"], file["kind"], file["page_unit"]) == ("ready", "pdf", "page")
    assert (file["page_count"], file["passage_count"], file["version"]) == (2, 2, 1)
    assert file["sha256"] == hashlib.sha256(MANUAL).hexdigest()
    assert file["problem"] is None
    answer = signed_in.get(f"{PATH}/search", params={"q": "how long is the warranty"}).json()
    passage = answer["passages"][0]
    assert (passage["file_name"], passage["pages"], passage["location"]) == (
        "Oven.pdf",
        [2],
        "page 2",
    )
    assert passage["file_id"] == file_id
    assert passage["link"].endswith(f"/files/{file_id}?page=2&passage=1#passage")
    page = signed_in.get(f"{PATH}/{file_id}/pages/2").json()
    assert "three years" in page["text"]
    assert signed_in.get(f"{PATH}/{file_id}/pages/3").status_code == 404


def test_what_nothing_speaks_of_is_not_found(signed_in: TestClient) -> None:
    assert found(signed_in, "warranty") == []
    add_file(signed_in, "Oven.pdf", MANUAL)
    assert found(signed_in, "migration of whales in winter") == []


def test_files_of_one_request_are_answered_for_one_by_one(signed_in: TestClient) -> None:
    items = send_files(
        signed_in, ("a.md", b"# Tea\n\nGreen."), ("b.pdf", encrypted_pdf()), ("c.txt", b"x" * 2000)
    )
    assert [item["outcome"] for item in items] == ["added", "added", "added"]
    run_jobs(signed_in)
    listed = signed_in.get(PATH).json()
    assert listed["total"] == 3
    states = {each["name"]: each["state"] for each in listed["items"]}
    assert states == {"a.md": "ready", "b.pdf": "failed", "c.txt": "ready"}
    locked = next(each for each in listed["items"] if each["name"] == "b.pdf")
    assert locked["problem"]["code"] == "encrypted"
    assert "password" in locked["problem"]["message"]
    assert locked["problem"]["hint"]


def test_a_file_that_is_too_large_is_refused_and_the_others_are_kept(
    settings: Settings, signed_in: TestClient, kernel: Kernel
) -> None:
    kernel.settings = settings.model_copy(update={"file_max_bytes": 1000})
    items = send_files(signed_in, ("big.txt", b"word " * 300), ("small.txt", b"word"))
    assert [item["outcome"] for item in items] == ["refused", "added"]
    assert items[0]["problem"]["code"] == "limit_exceeded"
    assert "BACKREAD_FILE_MAX_BYTES" in items[0]["problem"]["hint"]


def test_an_account_has_so_much_room_and_the_same_bytes_need_it_once(
    settings: Settings, signed_in: TestClient, kernel: Kernel
) -> None:
    kernel.settings = settings.model_copy(update={"files_max_bytes": 1000})
    assert send_files(signed_in, ("a.txt", b"a" * 800))[0]["outcome"] == "added"
    assert send_files(signed_in, ("b.txt", b"b" * 300))[0]["outcome"] == "refused"
    assert send_files(signed_in, ("c.txt", b"a" * 800))[0]["outcome"] == "added"
    assert rows(kernel)["file_originals"] == 1


def test_uploads_by_tus_become_documents(signed_in: TestClient) -> None:
    tus = headers(signed_in) | {"Tus-Resumable": "1.0.0"}
    begun = signed_in.post(
        "/api/v1/uploads",
        headers=tus
        | {"Upload-Length": str(len(MANUAL)), "Upload-Metadata": "filename T3Zlbi5wZGY="},
    )
    place = begun.headers["location"]
    whole = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    unfinished = place.rpartition("/")[2]
    body = {"uploads": [unfinished]}
    early = signed_in.post(PATH, json=body, headers=headers(signed_in)).json()["items"][0]
    assert early["outcome"] == "refused"
    assert signed_in.patch(place, content=MANUAL, headers=tus | whole).status_code == 204
    (item,) = signed_in.post(PATH, json=body, headers=headers(signed_in)).json()["items"]
    assert (item["name"], item["outcome"]) == ("Oven.pdf", "added")
    assert signed_in.get("/api/v1/uploads").json()["items"] == []
    gone = signed_in.post(PATH, json=body, headers=headers(signed_in)).json()["items"][0]
    assert gone["outcome"] == "refused"
    run_jobs(signed_in)
    assert found(signed_in, "warranty labour") == [("Oven.pdf", "page 2")]


def test_the_same_name_replaces_and_the_same_bytes_change_nothing(
    signed_in: TestClient, kernel: Kernel
) -> None:
    first = add_file(signed_in, "tea.md", b"# Tea\n\nGreen tea steeps at eighty degrees.")
    assert send_files(signed_in, ("tea.md", b"# Tea\n\nGreen tea steeps at eighty degrees."))[
        0
    ] == {
        "name": "tea.md",
        "outcome": "unchanged",
        "file_id": first,
        "problem": None,
    }
    (item,) = send_files(signed_in, ("tea.md", b"# Tea\n\nBlack tea takes boiling water."))
    assert (item["outcome"], item["file_id"]) == ("replaced", first)
    # Nothing of the old is found any more, from the moment of the upload on.
    assert found(signed_in, "green eighty degrees") == []
    run_jobs(signed_in)
    assert found(signed_in, "boiling water") == [("tea.md", "Tea")]
    assert signed_in.get(f"{PATH}/{first}").json()["version"] == 2
    counts = rows(kernel)
    assert (counts["file_originals"], counts["file_versions"], counts["files"]) == (1, 0, 1)
    assert kernel.index.count(Collection.FILES, _account(kernel)) == counts["file_passages"]


def test_earlier_originals_are_kept_when_that_is_set(
    settings: Settings, signed_in: TestClient, kernel: Kernel
) -> None:
    kernel.settings = settings.model_copy(update={"file_versions_kept": 2})
    for number in range(1, 5):
        file_id = add_file(signed_in, "tea.txt", f"This is text number {number}.".encode())
    detail = signed_in.get(f"{PATH}/{file_id}").json()
    assert [each["version"] for each in detail["versions"]] == [3, 2]
    old = signed_in.get(f"{PATH}/{file_id}/original", params={"version": 2})
    assert old.content == b"This is text number 2."
    assert signed_in.get(f"{PATH}/{file_id}/original", params={"version": 1}).status_code == 404
    assert rows(kernel)["file_originals"] == 3
    assert len(found(signed_in, "text number")) == 1


@pytest.mark.parametrize(
    ("name", "body"), [("x.html", b"<html><script>alert(1)</script>hello"), ("p.pdf", MANUAL)]
)
def test_an_original_comes_back_as_it_was_and_is_never_shown_in_place(
    signed_in: TestClient, name: str, body: bytes
) -> None:
    file_id = add_file(signed_in, f"../Küche/{name}", body)
    answer = signed_in.get(f"{PATH}/{file_id}/original")
    assert answer.content == body
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "script" not in answer.headers["content-security-policy"]
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith(f'attachment; filename="{name}"')
    assert unquote(disposition.rsplit("''", 1)[1]) == name
    assert signed_in.get(f"{PATH}/{file_id}").json()["name"] == f"Küche/{name}"


def test_deleting_leaves_nothing_and_gives_a_receipt(signed_in: TestClient, kernel: Kernel) -> None:
    file_id = add_file(signed_in, "Oven.pdf", MANUAL)
    twin = add_file(signed_in, "Twin.pdf", MANUAL)
    answer = signed_in.delete(f"{PATH}/{file_id}", headers=headers(signed_in)).json()
    assert answer.pop("deleted_at")
    assert answer == {
        "names": ["Oven.pdf"],
        "files": 1,
        "originals": 0,  # the other file has the same bytes
        "passages": 2,
        "index": "removed",
    }
    assert signed_in.delete(f"{PATH}/{twin}", headers=headers(signed_in)).json()["originals"] == 1
    assert set(rows(kernel).values()) == {0}
    assert kernel.index.count(Collection.FILES, _account(kernel)) == 0
    with kernel.store.read() as session:
        assert session.scalar(select(func.count()).select_from(IndexRemoval)) == 0
    assert found(signed_in, "warranty") == []
    again = signed_in.delete(f"{PATH}/{file_id}", headers=headers(signed_in))
    assert again.status_code == 404


def test_a_document_that_could_not_be_read_is_read_again_when_asked(
    settings: Settings, signed_in: TestClient, kernel: Kernel
) -> None:
    kernel.settings = settings.model_copy(update={"file_max_pages": 1})
    file_id = add_file(signed_in, "Oven.pdf", MANUAL)
    assert signed_in.get(f"{PATH}/{file_id}").json()["problem"]["code"] == "too_many_pages"
    kernel.settings = settings
    again = signed_in.post(f"{PATH}/{file_id}/read-again", headers=headers(signed_in))
    assert again.json()["state"] == "waiting"
    run_jobs(signed_in)
    assert signed_in.get(f"{PATH}/{file_id}").json()["state"] == "ready"


def test_buckets_hold_files_apart_and_go_with_them(signed_in: TestClient, kernel: Kernel) -> None:
    made = signed_in.post(
        "/api/v1/file-buckets", json={"name": " Work  papers "}, headers=headers(signed_in)
    )
    assert (made.status_code, made.json()["name"]) == (201, "Work papers")
    bucket = made.json()["id"]
    add_file(signed_in, "a.md", b"# Plan\n\nPaint the fence.", bucket_id=bucket)
    add_file(signed_in, "a.md", b"# Plan\n\nPaint the shed.", bucket="At home")
    add_file(signed_in, "a.md", b"# Plan\n\nPaint the door.")
    listed = signed_in.get("/api/v1/file-buckets").json()["items"]
    assert [(each["name"], each["files"], each["is_default"]) for each in listed] == [
        ("Files", 1, True),
        ("At home", 1, False),
        ("Work papers", 1, False),
    ]
    assert len(found(signed_in, "paint")) == 3
    answer = signed_in.get(f"{PATH}/search", params={"q": "paint", "bucket_id": bucket}).json()
    assert [each["text"] for each in answer["passages"]] == ["# Plan\n\nPaint the fence."]
    assert signed_in.get(PATH, params={"bucket_id": bucket}).json()["total"] == 1
    address = f"/api/v1/file-buckets/{bucket}"
    renamed = signed_in.patch(address, json={"name": "Jobs"}, headers=headers(signed_in))
    assert renamed.json()["name"] == "Jobs"
    taken = signed_in.patch(address, json={"name": "At home"}, headers=headers(signed_in))
    assert taken.status_code == 400
    receipt = signed_in.delete(address, headers=headers(signed_in)).json()
    assert (receipt["names"], receipt["passages"]) == (["a.md"], 1)
    assert len(found(signed_in, "paint")) == 2
    for call in (
        signed_in.delete(address, headers=headers(signed_in)),
        signed_in.get(f"{PATH}/search", params={"q": "paint", "bucket_id": bucket}),
    ):
        assert call.status_code == 404


def test_a_row_of_a_table_is_found_with_its_header(signed_in: TestClient) -> None:
    plants = [["Plant", "Water every"], *([f"Plant {n}", f"{n} days"] for n in range(1, 300))]
    add_file(signed_in, "Garden.xlsx", xlsx({"Beds": [*plants, ["Cactus", "forty days"]]}))
    answer = signed_in.get(f"{PATH}/search", params={"q": "cactus", "top_k": 1}).json()
    (passage,) = answer["passages"]
    assert passage["text"].startswith("Plant | Water every\n")
    assert passage["location"].startswith("Beds!A")
    assert passage["location"].endswith(":B301")


def test_documents_of_projects_are_found_by_who_may_read_chats(
    signed_in: TestClient, kernel: Kernel
) -> None:
    docs = [{"uuid": "d", "filename": "hull.md", "content": "# Hull\n\nOak planks need oil."}]
    project = {"uuid": "p", "name": "Boat", "prompt_template": "", "docs": docs}
    bring_finds(signed_in, **{"projects.json": [project]})
    answer = signed_in.get(f"{PATH}/search", params={"q": "oak planks"}).json()
    (passage,) = answer["passages"]
    assert (passage["file_name"], passage["project"], passage["location"]) == (
        "hull.md",
        "Boat",
        "Hull",
    )
    assert passage["bucket_id"] is None
    page = signed_in.get(passage["link"].partition(kernel.settings.origin)[2])
    assert '<mark id="passage"' in page.text
    # A later export has other words.
    docs[0]["content"] = "# Hull\n\nSteel plates need paint."
    bring_finds(signed_in, **{"projects.json": [project | {"updated_at": "2026-03-01T00:00:00Z"}]})
    assert found(signed_in, "oak planks") == []
    assert found(signed_in, "steel plates") == [("hull.md", "Hull")]


def test_files_of_another_account_are_not_there(signed_in: TestClient, kernel: Kernel) -> None:
    file_id = add_file(signed_in, "Oven.pdf", MANUAL)
    bucket = signed_in.get("/api/v1/file-buckets").json()["items"][0]["id"]
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash=PASSWORD, role="member")
        session.add(other)
    sign_in(signed_in, kernel, other)
    assert signed_in.get(PATH).json()["total"] == 0
    assert signed_in.get("/api/v1/file-buckets").json()["items"] == []
    assert found(signed_in, "warranty") == []
    for address in ("", "/pages/1", "/original"):
        for wanted in (file_id, "0" * 26):
            assert signed_in.get(f"{PATH}/{wanted}{address}").status_code == 404
    asked = headers(signed_in)
    for number in (bucket, 999_999, -1):
        refused = [
            signed_in.get(PATH, params={"bucket_id": number}),
            signed_in.get(f"{PATH}/search", params={"q": "x", "bucket_id": number}),
            signed_in.delete(f"/api/v1/file-buckets/{number}", headers=asked),
            signed_in.patch(f"/api/v1/file-buckets/{number}", json={"name": "x"}, headers=asked),
            signed_in.post(
                PATH, params={"bucket_id": number}, files={"files": ("a", b"x")}, headers=asked
            ),
        ]
        assert {each.status_code for each in refused} == {404}
    assert signed_in.delete(f"{PATH}/{file_id}", headers=asked).status_code == 404
    assert signed_in.post(f"{PATH}/{file_id}/read-again", headers=asked).status_code == 404


@pytest.mark.parametrize("query", ["", " " * 10])
def test_an_empty_query_is_refused(signed_in: TestClient, query: str) -> None:
    assert signed_in.get(f"{PATH}/search", params={"q": query}).status_code in (400, 422)


def _account(kernel: Kernel) -> str:
    with kernel.store.read() as session:
        return session.scalars(select(Account.id)).first() or ""
