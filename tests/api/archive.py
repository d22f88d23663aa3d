"""An archive that comes in through the same door as a person's."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from backread.jobs import run_pending
from backread.kernel import Kernel
from ingest import tasks
from tests.api.exports import zipped
from tests.api.web.pages import csrf_of

__all__ = ["Importer", "importer", "run_jobs", "tasks"]  # importing `tasks` registers the jobs

Importer = Callable[..., str]


def run_jobs(browser: TestClient) -> None:
    """Does the background work that waits, in the server's own kernel."""
    app = browser.app
    assert isinstance(app, FastAPI)
    kernel: Kernel = app.state.kernel
    run_pending(kernel)


def importer(browser: TestClient) -> Importer:
    """Uploads conversations as a ZIP, runs the import, and returns its id."""

    def upload(*conversations: dict[str, Any], name: str = "export.zip") -> str:
        answer = browser.post(
            "/api/v1/imports",
            files={"files": (name, zipped(*conversations))},
            headers={"X-CSRF-Token": csrf_of(browser), "Accept": "application/json"},
        )
        assert answer.status_code == 202, answer.text
        run_jobs(browser)
        return str(answer.json()["id"])

    return upload
