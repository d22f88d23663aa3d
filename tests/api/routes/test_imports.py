import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.routes.uploads import shown_name
from backread.settings import Settings
from tests.api.archive import Importer, run_jobs
from tests.api.exports import dialogue, zipped
from tests.api.web.pages import csrf_of


@pytest.fixture
def api(signed_in: TestClient) -> TestClient:
    """The owner's browser, as the pages' scripts use it."""
    token = csrf_of(signed_in)
    signed_in.headers.update({"X-CSRF-Token": token, "Accept": "application/json"})
    return signed_in


def uploaded(settings: Settings) -> list[Path]:
    return list(settings.uploads_dir.glob("*")) if settings.uploads_dir.exists() else []


def totals_add_up(report: dict[str, dict[str, int]]) -> bool:
    totals = dict(report["totals"])
    return totals.pop("found") == sum(totals.values())


def test_an_upload_is_imported_and_its_report_adds_up(api: TestClient, settings: Settings) -> None:
    export = zipped(dialogue("a", "b", identity="1"), dialogue("c", "d", identity="2"))
    answer = api.post("/api/v1/imports", files={"files": ("export.zip", export)})
    assert answer.status_code == 202
    href = answer.json()["href"]
    waiting = api.get(href).json()
    assert (waiting["state"], waiting["files"][0]["name"]) == ("queued", "export.zip")
    run_jobs(api)
    report = api.get(href).json()
    assert report["state"] == "readable"
    assert report["totals"]["new"] == 2
    assert totals_add_up(report)
    assert report["index"]["passages"] > 0
    assert len(report["items"]) == 2
    assert api.get(f"{href}?items=0").json()["items"] == []
    assert uploaded(settings) == []
    listed = api.get("/api/v1/imports").json()["items"]
    assert [item["id"] for item in listed] == [report["id"]]


def test_the_same_export_again_adds_nothing(api: TestClient, bring_in: Importer) -> None:
    chats = [dialogue("a", "b", identity="1"), dialogue("c", "d", identity="2")]
    bring_in(*chats)
    again = api.get(f"/api/v1/imports/{bring_in(*chats)}").json()
    assert (again["totals"]["new"], again["totals"]["unchanged"]) == (0, 2)


def test_a_database_in_use_is_read_with_the_log_that_was_sent_with_it(
    api: TestClient, tmp_path: Path
) -> None:
    path = tmp_path / "state.vscdb"
    chat = {"composerId": "c", "conversation": [{"type": 1, "text": "Only in the log?"}]}
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute(
            "INSERT INTO cursorDiskKV VALUES ('composerData:c', ?)", (json.dumps(chat),)
        )
        database.commit()
        sent = [
            ("files", (f"globalStorage/{name}", (tmp_path / name).read_bytes()))
            for name in ("state.vscdb-wal", "state.vscdb")
        ]
    answer = api.post("/api/v1/imports", files=sent)
    run_jobs(api)
    report = api.get(answer.json()["href"]).json()
    assert (report["state"], report["warnings"]) == ("readable", [])
    assert report["totals"]["new"] == report["totals"]["found"] == 1


def test_several_files_make_one_import(api: TestClient) -> None:
    parts = [
        ("files", (f"conversations-00{number}.json", json.dumps([chat])))
        for number, chat in enumerate(
            [dialogue("a", identity="1"), dialogue("b", identity="2"), dialogue("c", identity="3")]
        )
    ]
    href = api.post("/api/v1/imports", files=parts).json()["href"]
    run_jobs(api)
    report = api.get(href).json()
    assert [file["name"] for file in report["files"]] == [part[1][0] for part in parts]
    assert report["totals"]["new"] == 3


def test_a_dry_run_stores_nothing(api: TestClient) -> None:
    answer = api.post(
        "/api/v1/imports?dry_run=true", files={"files": ("e.zip", zipped(dialogue("a", "b")))}
    )
    run_jobs(api)
    report = api.get(answer.json()["href"]).json()
    assert (report["is_dry_run"], report["totals"]["found"]) == (True, 1)
    assert api.get("/api/v1/conversations").json()["total"] == 0


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("empty.zip", b"", "empty"),
        ("holiday.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF" + b"\x00" * 200, "photo"),
        ("broken.zip", zipped(dialogue("a", "b"))[:-60], "incomplete"),
        ("other.json", b'{"name": "something else"}', "other.json"),
        ("notes.txt", b"just some notes", "notes.txt"),
    ],
)
def test_a_wrong_file_gets_a_report_that_says_what_it_is(
    api: TestClient, settings: Settings, name: str, body: bytes, said: str
) -> None:
    href = api.post("/api/v1/imports", files={"files": (name, body)}).json()["href"]
    run_jobs(api)
    report = api.get(href).json()
    assert report["state"] == "failed"
    assert said in report["error"]["message"]
    assert report["files"][0]["name"] == name
    assert totals_add_up(report)
    assert uploaded(settings) == []


def test_an_import_that_waits_can_be_called_off(api: TestClient) -> None:
    href = api.post("/api/v1/imports", files={"files": ("e.zip", zipped(dialogue("a")))}).json()[
        "href"
    ]
    assert api.post(f"{href}/cancel").json()["state"] == "cancelled"
    run_jobs(api)
    assert api.get(href).json()["state"] == "cancelled"
    assert api.get("/api/v1/conversations").json()["total"] == 0


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"no boundary"),
        ("multipart/form-data; boundary=b", b"not a form"),
        ("multipart/form-data; boundary=" + "b" * 300, b"--" + b"b" * 300),
        ("multipart/form-data; boundary=b", b"--b--\r\n"),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nhalf a f',
        ),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="files"; filename=""\r\n\r\n'
            b"\r\n--b--\r\n",
        ),
    ],
)
def test_a_body_that_is_no_upload_is_refused_and_leaves_nothing(
    api: TestClient, settings: Settings, content_type: str, body: bytes
) -> None:
    answer = api.post("/api/v1/imports", content=body, headers={"Content-Type": content_type})
    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_input"
    assert answer.json()["hint"]
    assert uploaded(settings) == []


def test_an_upload_over_the_limit_is_refused_and_leaves_nothing(
    signed_in: TestClient, settings: Settings
) -> None:
    app = signed_in.app
    small = settings.model_copy(update={"upload_max_bytes": 1000})
    app.state.kernel.settings = small  # type: ignore[attr-defined]
    answer = signed_in.post(
        "/api/v1/imports",
        files=[("files", ("a.zip", b"x" * 800)), ("files", ("b.zip", b"x" * 800))],
        headers={"X-CSRF-Token": csrf_of(signed_in), "Accept": "application/json"},
    )
    assert answer.status_code == 413
    assert "1,000 bytes" in answer.json()["detail"]
    assert uploaded(settings) == []


def test_uploading_needs_a_sign_in_and_the_forms_token(
    browser: TestClient, api: TestClient, settings: Settings
) -> None:
    files = {"files": ("e.zip", zipped(dialogue("a")))}
    assert (
        api.post("/api/v1/imports", files=files, headers={"X-CSRF-Token": "x"}).status_code == 403
    )
    api.cookies.clear()
    refused = api.post("/api/v1/imports", files=files)
    assert refused.status_code in {401, 403}
    assert uploaded(settings) == []


def test_names_of_uploaded_files_are_shown_and_never_followed() -> None:
    assert shown_name(b"export/conversations.json") == "export/conversations.json"
    assert shown_name(b"../../etc/passwd") == "etc/passwd"
    assert shown_name(b"C:\\Users\\ada\\export.zip") == "C:/Users/ada/export.zip"
    assert shown_name("Übung\u202e.zip".encode()) == "Übung.zip"
    assert shown_name(b"\x00/..") == "unnamed file"
    assert shown_name(b"\xff\xfe.zip") == "��.zip"
    assert len(shown_name(b"x" * 3000 + b".zip")) == 400
