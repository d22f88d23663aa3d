import io
import zipfile

from starlette.testclient import TestClient

from tests.api.archive import Importer
from tests.api.exports import dialogue
from tests.api.web.pages import csrf_of


def test_everything_is_downloaded_as_one_zip(signed_in: TestClient, bring_in: Importer) -> None:
    bring_in(dialogue("Which plane?", "A jack plane.", identity="c1", title="Planes"))
    page = signed_in.get("/settings").text
    assert "Download everything" in page
    answer = signed_in.post("/api/v1/export", data={"csrf_token": csrf_of(signed_in)})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["cache-control"] == "no-store"
    assert 'attachment; filename="backread-' in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        (readable,) = [name for name in archive.namelist() if name.endswith(".md")]
        assert b"A jack plane." in archive.read(readable)
        assert b'"external_id":"c1"' in archive.read("captures.ndjson")


def test_a_download_needs_a_sign_in_and_a_form_of_ours(
    browser: TestClient, signed_in: TestClient
) -> None:
    assert signed_in.post("/api/v1/export").status_code == 403
    browser.cookies.clear()
    assert browser.post("/api/v1/export").status_code in (401, 403)
    assert signed_in.get("/api/v1/export").status_code == 405
