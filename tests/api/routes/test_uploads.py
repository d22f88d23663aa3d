"""Resumable uploads, spoken as a tus client does."""

import base64
import fcntl
import json
import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from backread.jobs.schedule import do_upkeep
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, Upload
from tests.api.archive import run_jobs
from tests.api.conftest import sign_in
from tests.api.exports import dialogue, zipped
from tests.api.web.pages import csrf_of

UPLOADS = "/api/v1/uploads"
TUS = {"Tus-Resumable": "1.0.0"}
BYTES = TUS | {"Content-Type": "application/offset+octet-stream"}
A_DAY = 24 * 3600


@pytest.fixture
def api(signed_in: TestClient) -> TestClient:
    """The owner's browser, as the pages' scripts use it."""
    token = csrf_of(signed_in)
    signed_in.headers.update({"X-CSRF-Token": token, "Accept": "application/json"})
    return signed_in


def begin(api: TestClient, size: int, name: str = "export.zip") -> str:
    """The address that takes the bytes."""
    encoded = base64.b64encode(name.encode()).decode()
    answer = api.post(
        UPLOADS,
        headers=TUS | {"Upload-Length": str(size), "Upload-Metadata": f"filename {encoded}"},
    )
    assert answer.status_code == 201, answer.text
    assert answer.headers["Tus-Resumable"] == "1.0.0"
    assert "GMT" in answer.headers["Upload-Expires"]
    return str(answer.headers["Location"])


def add(api: TestClient, where: str, offset: int, data: bytes) -> int:
    """The answer's status."""
    headers = BYTES | {"Upload-Offset": str(offset)}
    return api.patch(where, content=data, headers=headers).status_code


def offset_of(api: TestClient, where: str) -> int:
    answer = api.head(where, headers=TUS)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    return int(answer.headers["Upload-Offset"])


def id_of(where: str) -> str:
    return where.rsplit("/", 1)[1]


def on_disk(settings: Settings) -> list[Path]:
    return list(settings.uploads_dir.glob("*")) if settings.uploads_dir.exists() else []


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_file_comes_in_by_pieces_and_is_imported(api: TestClient, settings: Settings) -> None:
    export = zipped(dialogue("a", "b", identity="1"), dialogue("c", "d", identity="2"))
    where = begin(api, len(export))
    assert offset_of(api, where) == 0
    half = len(export) // 2
    assert add(api, where, 0, export[:half]) == 204
    assert offset_of(api, where) == half
    assert add(api, where, half, export[half:]) == 204
    assert offset_of(api, where) == len(export)

    answer = api.post("/api/v1/imports", json={"uploads": [id_of(where)]})
    assert answer.status_code == 202, answer.text
    run_jobs(api)
    report = api.get(answer.json()["href"]).json()
    assert (report["state"], report["totals"]["new"]) == ("readable", 2)
    assert report["files"] == [{"name": "export.zip", "size": len(export)}]
    assert on_disk(settings) == []
    assert api.head(where, headers=TUS).status_code == 404


def test_the_server_says_what_it_can(api: TestClient, settings: Settings) -> None:
    answer = api.options(UPLOADS)
    assert answer.status_code == 204
    assert answer.headers["Tus-Version"] == "1.0.0"
    assert answer.headers["Tus-Extension"] == "creation,expiration,termination"
    assert answer.headers["Tus-Max-Size"] == str(settings.upload_max_bytes)


def test_files_that_were_uploaded_one_by_one_make_one_import(api: TestClient) -> None:
    parts = {f"part-{n}.json": json.dumps([dialogue(f"q{n}", identity=f"{n}")]) for n in range(3)}
    ids = []
    for name, text in parts.items():
        where = begin(api, len(text), name)
        assert add(api, where, 0, text.encode()) == 204
        ids.append(id_of(where))
    href = api.post("/api/v1/imports", json={"uploads": ids}).json()["href"]
    run_jobs(api)
    report = api.get(href).json()
    assert [file["name"] for file in report["files"]] == list(parts)
    assert report["totals"]["new"] == 3


def test_small_files_come_in_one_request(api: TestClient) -> None:
    files = [
        ("files", (f"{n}.json", json.dumps([dialogue(f"q{n}", identity=f"{n}")])))
        for n in range(40)
    ]
    ids = api.post(f"{UPLOADS}/batch", files=files).json()["ids"]
    listed = api.get(UPLOADS).json()["items"]
    names = {each["id"]: each["name"] for each in listed}
    assert [names[each] for each in ids] == [file[1][0] for file in files]
    assert all(each["offset"] == each["size"] for each in listed)
    href = api.post("/api/v1/imports", json={"uploads": ids}).json()["href"]
    run_jobs(api)
    assert api.get(href).json()["totals"]["new"] == 40
    assert api.get(UPLOADS).json()["items"] == []


def test_an_import_that_is_asked_for_twice_is_one(api: TestClient) -> None:
    """As when the answer to the first request got lost."""
    export = zipped(dialogue("a"))
    where = begin(api, len(export))
    add(api, where, 0, export)
    wanted = {"uploads": [id_of(where)]}
    first = api.post("/api/v1/imports", json=wanted).json()
    assert api.post("/api/v1/imports", json=wanted).json() == first
    assert len(api.get("/api/v1/imports").json()["items"]) == 1


def test_bytes_at_another_offset_are_refused_and_change_nothing(api: TestClient) -> None:
    where = begin(api, 10)
    assert add(api, where, 0, b"0123") == 204
    assert add(api, where, 0, b"0123") == 409
    assert add(api, where, 6, b"6789") == 409
    assert offset_of(api, where) == 4


def test_an_upload_never_becomes_larger_than_announced(api: TestClient, settings: Settings) -> None:
    where = begin(api, 4)
    assert add(api, where, 0, b"01234") == 413

    def streamed() -> Iterator[bytes]:
        yield b"0123"
        yield b"4567"

    headers = BYTES | {"Upload-Offset": "0"}
    assert api.patch(where, content=streamed(), headers=headers).status_code == 413
    assert on_disk(settings)[0].stat().st_size <= 4


@pytest.mark.parametrize("length", ["", "-1", "1.5", "ten", "0x10", "9" * 40])
def test_a_length_that_is_none_is_refused(api: TestClient, settings: Settings, length: str) -> None:
    answer = api.post(UPLOADS, headers=TUS | {"Upload-Length": length})
    assert answer.status_code == 400
    assert answer.headers["Tus-Resumable"] == "1.0.0"
    assert on_disk(settings) == []


@pytest.mark.parametrize(
    "metadata", ["filename !!!", "filename ====", "filename YQ==YQ==", "x" * 9_000]
)
def test_damaged_metadata_is_refused(api: TestClient, settings: Settings, metadata: str) -> None:
    headers = TUS | {"Upload-Length": "5", "Upload-Metadata": metadata}
    assert api.post(UPLOADS, headers=headers).status_code in {400, 413}
    assert on_disk(settings) == []


def test_a_name_is_shown_and_never_a_path(api: TestClient, settings: Settings) -> None:
    where = begin(api, 1, "../../../etc/passwd")
    assert api.get(UPLOADS).json()["items"][0]["name"] == "etc/passwd"
    assert [path.parent for path in on_disk(settings)] == [settings.uploads_dir]
    for path in ("..%2F..%2Fbackread.db", "../backread.db", id_of(where) + ".upload", "%00"):
        assert api.head(f"{UPLOADS}/{path}", headers=TUS).status_code in {400, 404, 405}


def test_a_client_of_another_version_is_told_ours(api: TestClient) -> None:
    answer = api.post(UPLOADS, headers={"Tus-Resumable": "0.2.2", "Upload-Length": "5"})
    assert answer.status_code == 412
    assert answer.headers["Tus-Version"] == "1.0.0"
    where = begin(api, 5)
    assert api.patch(where, content=b"x", headers=BYTES | {"Tus-Resumable": "2"}).status_code == 412
    headers = BYTES | {"Upload-Offset": "0", "Content-Type": "text/plain"}
    assert api.patch(where, content=b"x", headers=headers).status_code == 415
    assert add(api, where, 0, b"01234") == 204


def test_an_upload_of_another_account_is_not_there(
    api: TestClient, kernel: Kernel, settings: Settings
) -> None:
    where = begin(api, 4)
    other = Account(email="boris@example.org", password_hash="unused", role="member")
    with kernel.store.write() as session:
        session.add(other)
    sign_in(api, kernel, other)
    api.headers["X-CSRF-Token"] = csrf_of(api)
    assert api.head(where, headers=TUS).status_code == 404
    assert add(api, where, 0, b"0123") == 404
    assert api.delete(where, headers=TUS).status_code == 404
    assert api.post("/api/v1/imports", json={"uploads": [id_of(where)]}).status_code == 404
    assert api.get(UPLOADS).json()["items"] == []
    assert [path.stat().st_size for path in on_disk(settings)] == [0]


def test_uploading_needs_a_sign_in_and_the_forms_token(api: TestClient, settings: Settings) -> None:
    where = begin(api, 4)
    forged = {"X-CSRF-Token": "x"}
    foreign = {"Origin": "https://evil.example"}
    for wrong in (forged, foreign):
        headers = BYTES | wrong
        length = {"Upload-Length": "5"}
        assert api.post(UPLOADS, headers=headers | length).status_code == 403
        begun = api.patch(where, content=b"0123", headers=headers | {"Upload-Offset": "0"})
        assert begun.status_code == 403
        assert api.delete(where, headers=headers).status_code == 403
        batch = api.post(f"{UPLOADS}/batch", files={"files": ("a", b"x")}, headers=wrong)
        assert batch.status_code == 403
    api.cookies.clear()
    assert api.head(where, headers=TUS).status_code == 401
    assert add(api, where, 0, b"0123") in {401, 403}
    assert [path.stat().st_size for path in on_disk(settings)] == [0]


def test_an_account_cannot_fill_the_disk_with_uploads_that_it_never_ends(
    api: TestClient, kernel: Kernel, settings: Settings
) -> None:
    kernel.settings = settings.model_copy(update={"upload_max_bytes": 1000})
    too_large = api.post(UPLOADS, headers=TUS | {"Upload-Length": "1001"})
    assert too_large.status_code == 413
    assert "1,000 bytes" in too_large.json()["detail"]
    where = begin(api, 600)
    second = api.post(UPLOADS, headers=TUS | {"Upload-Length": "600"})
    assert second.status_code == 413
    assert "Discard" in second.json()["hint"]
    batch = api.post(f"{UPLOADS}/batch", files={"files": ("a", b"x" * 600)})
    assert batch.status_code == 413
    assert api.delete(where, headers=TUS).status_code == 204
    begin(api, 600)
    assert len(on_disk(settings)) == 1


def test_a_file_that_the_disk_has_no_room_for_is_refused_at_once(
    api: TestClient, settings: Settings, kernel: Kernel
) -> None:
    kernel.settings = settings.model_copy(update={"upload_max_bytes": 10**17})
    answer = api.post(UPLOADS, headers=TUS | {"Upload-Length": str(10**16)})
    assert answer.status_code == 503
    assert "no room" in answer.json()["detail"]
    assert on_disk(settings) == []


def test_two_requests_never_write_to_one_upload_at_a_time(
    api: TestClient, settings: Settings
) -> None:
    where = begin(api, 4)
    # As another web worker holds it.
    with on_disk(settings)[0].open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert add(api, where, 0, b"0123") == 423
    assert add(api, where, 0, b"0123") == 204


def test_what_came_before_the_server_was_killed_is_kept(
    api: TestClient, settings: Settings
) -> None:
    """The size of the file is the offset, whatever was written down elsewhere."""
    export = zipped(dialogue("a", "b"))
    where = begin(api, len(export))
    with on_disk(settings)[0].open("ab") as file:
        file.write(export[:100])  # and no word of it anywhere
    assert offset_of(api, where) == 100
    assert add(api, where, 100, export[100:]) == 204
    href = api.post("/api/v1/imports", json={"uploads": [id_of(where)]}).json()["href"]
    run_jobs(api)
    assert api.get(href).json()["totals"]["new"] == 1


def test_an_upload_that_is_given_up_leaves_nothing(api: TestClient, settings: Settings) -> None:
    where = begin(api, 4)
    add(api, where, 0, b"01")
    assert api.delete(where, headers=TUS).status_code == 204
    assert api.head(where, headers=TUS).status_code == 404
    assert api.delete(where, headers=TUS).status_code == 404
    assert on_disk(settings) == []


def test_an_upload_that_is_not_complete_is_not_imported(api: TestClient) -> None:
    whole, half = begin(api, 2), begin(api, 4, "half.zip")
    add(api, whole, 0, b"[]")
    add(api, half, 0, b"01")
    refused = api.post("/api/v1/imports", json={"uploads": [id_of(whole), id_of(half)]})
    assert refused.status_code == 409
    assert "half.zip is not uploaded completely" in refused.json()["detail"]
    assert len(api.get(UPLOADS).json()["items"]) == 2
    assert api.get("/api/v1/imports").json()["items"] == []


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"{}", b'{"uploads": []}', b'{"uploads": [1]}', b'{"uploads": "x"}']
)
def test_a_list_of_uploads_that_is_none_is_refused(api: TestClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = api.post("/api/v1/imports", content=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["hint"]
    huge = b'{"uploads": ["' + b"x" * 300_000 + b'"]}'
    assert api.post("/api/v1/imports", content=huge, headers=headers).status_code == 413


def test_uploads_that_stood_still_for_a_day_are_removed_and_others_stay(
    api: TestClient, kernel: Kernel, settings: Settings
) -> None:
    old = begin(api, 4, "old.zip")
    age(on_disk(settings)[0], A_DAY + 60)
    fresh = begin(api, 4, "fresh.zip")
    leftover = settings.uploads_dir / "left-behind.upload"
    leftover.write_bytes(b"a server was killed before its import was written down")
    age(leftover, A_DAY + 60)
    assert api.head(old, headers=TUS).status_code == 404
    assert [each["name"] for each in api.get(UPLOADS).json()["items"]] == ["fresh.zip"]
    _make_rows_old(kernel)
    do_upkeep(kernel)
    assert [path.name for path in on_disk(settings)] == [f"{id_of(fresh)}.upload"]
    assert api.head(fresh, headers=TUS).status_code == 200


def _make_rows_old(kernel: Kernel) -> None:
    with kernel.store.write() as session:
        session.execute(update(Upload).values(created_at=utcnow() - timedelta(days=2)))


def test_files_of_an_import_that_waits_or_is_paused_are_never_tidied_away(
    api: TestClient, kernel: Kernel, settings: Settings
) -> None:
    ids = []
    for number in range(2):
        export = zipped(dialogue("a", identity=str(number)))
        where = begin(api, len(export))
        add(api, where, 0, export)
        ids.append(api.post("/api/v1/imports", json={"uploads": [id_of(where)]}).json()["id"])
    assert api.post(f"/api/v1/imports/{ids[0]}/pause").json()["state"] == "paused"
    for path in on_disk(settings):
        age(path, 40 * A_DAY)
    do_upkeep(kernel)
    assert len(on_disk(settings)) == 2
    api.post(f"/api/v1/imports/{ids[0]}/resume")
    run_jobs(api)
    assert [api.get(f"/api/v1/imports/{i}").json()["state"] for i in ids] == ["readable"] * 2
    assert on_disk(settings) == []
