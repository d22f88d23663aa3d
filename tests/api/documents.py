"""Documents that come in through the same door as a person's."""

from typing import Any

from starlette.testclient import TestClient

from tests.api.archive import run_jobs
from tests.api.web.pages import csrf_of


def headers(browser: TestClient) -> dict[str, str]:
    return {"X-CSRF-Token": csrf_of(browser), "Accept": "application/json"}


def send_files(browser: TestClient, *files: tuple[str, bytes], **where: Any) -> list[Any]:
    """Uploads documents in one form; what became of each."""
    answer = browser.post(
        "/api/v1/files",
        files=[("files", file) for file in files],
        params=where,
        headers=headers(browser),
    )
    assert answer.status_code == 202, answer.text
    items: list[Any] = answer.json()["items"]
    return items


def add_file(browser: TestClient, name: str, body: bytes, **where: Any) -> str:
    """Uploads a document and has it read; its id."""
    (item,) = send_files(browser, (name, body), **where)
    assert item["problem"] is None, item
    run_jobs(browser)
    return str(item["file_id"])
