"""The background work of an account over REST, and the list of what failed."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from backread.errors import Unavailable
from backread.jobs import JOBS, JobContext, enqueue, job
from backread.jobs.dead_letters import revive
from backread.jobs.retrying import MAX_FAILURES, MAX_REVIVALS
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, Import, Job
from tests.api.archive import run_jobs
from tests.api.exports import dialogue, zipped
from tests.api.web.pages import csrf_of

FAILS = "sample.fails"


@pytest.fixture(autouse=True)
def failing_job() -> Any:
    @job(FAILS)
    def fails(context: JobContext) -> None:
        if not (context.kernel.settings.home / "mended").exists():
            raise Unavailable("The endpoint does not answer.")

    yield
    del JOBS[FAILS]


@pytest.fixture
def api(signed_in: TestClient) -> TestClient:
    """The owner's browser, as scripts of its pages use it."""
    signed_in.headers["X-CSRF-Token"] = csrf_of(signed_in)
    signed_in.headers["Accept"] = "application/json"
    return signed_in


AddDead = Callable[..., str]


@pytest.fixture
def dead(kernel: Kernel, api: TestClient) -> AddDead:
    """Makes a job that has used its tries up."""

    def add(account_id: str | None, **values: Any) -> str:
        with kernel.store.write() as session:
            job_id = enqueue(session, FAILS, account_id=account_id)
            session.execute(update(Job).where(Job.id == job_id).values(failures=MAX_FAILURES - 1))
        run_jobs(api)
        with kernel.store.write() as session:
            if values:
                session.execute(update(Job).where(Job.id == job_id).values(**values))
        return job_id

    return add


def failed(api: TestClient) -> list[str]:
    return [each["id"] for each in api.get("/api/v1/jobs?state=failed").json()["items"]]


def test_what_failed_is_listed_with_its_reason_and_tried_again_on_request(
    api: TestClient, owner: Account, dead: AddDead, home: Path
) -> None:
    job_id = dead(owner.id)
    (entry,) = api.get("/api/v1/jobs?state=failed").json()["items"]
    assert (entry["state"], entry["error"]) == ("dead", "The endpoint does not answer.")
    assert (entry["error_code"], entry["can_retry"]) == ("unavailable", True)

    (home / "mended").touch()
    assert api.post(f"/api/v1/jobs/{job_id}/retry").json() == {"id": job_id, "state": "queued"}
    assert failed(api) == []
    run_jobs(api)
    assert api.get(f"/api/v1/jobs/{job_id}").json()["state"] == "done"
    again = api.post(f"/api/v1/jobs/{job_id}/retry")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


def test_a_failed_job_is_dismissed_and_all_at_once(
    api: TestClient, owner: Account, dead: AddDead
) -> None:
    ids = [dead(owner.id) for _ in range(3)]
    assert api.post(f"/api/v1/jobs/{ids[0]}/dismiss").json()["is_dismissed"] is True
    assert sorted(failed(api)) == sorted(ids[1:])
    assert api.post("/api/v1/jobs/retry-failed").json() == {"count": 2}
    run_jobs(api)
    summary = api.get("/api/v1/jobs/summary").json()
    assert (summary["queued"], summary["failed"]) == (2, 0)

    (dead(owner.id), dead(owner.id))
    assert api.post("/api/v1/jobs/dismiss-failed").json() == {"count": 2}
    assert failed(api) == []


def test_nobody_sees_or_touches_another_accounts_jobs_and_members_see_none_of_the_servers(
    api: TestClient, kernel: Kernel, owner: Account, dead: AddDead
) -> None:
    other = Account(email="eve@example.org", password_hash="unused", role="member")
    with kernel.store.write() as session:
        session.add(other)
    theirs, of_server = dead(other.id), dead(None)
    assert failed(api) == [of_server]
    for action in ("retry", "dismiss", "cancel"):
        assert api.post(f"/api/v1/jobs/{theirs}/{action}").status_code == 404
    sizes = api.get("/api/v1/jobs/summary").json()["server"]
    assert sizes == [{"label": "Fails", "queued": 0, "running": 0, "failed": 2}]

    with kernel.store.write() as session:
        session.execute(update(Account).where(Account.id == owner.id).values(role="member"))
    assert failed(api) == []
    assert api.get(f"/api/v1/jobs/{of_server}").status_code == 404
    assert api.get("/api/v1/jobs/summary").json()["server"] is None


def test_a_waiting_import_is_called_off_with_its_job(api: TestClient) -> None:
    files = {"files": ("export.zip", zipped(dialogue("a", "b")))}
    import_id = api.post("/api/v1/imports", files=files).json()["id"]
    (entry,) = api.get("/api/v1/jobs?state=open").json()["items"]
    assert (entry["label"], entry["subject"]) == ("Import", "export.zip")
    assert api.post(f"/api/v1/jobs/{entry['id']}/cancel").json()["state"] == "cancelled"
    assert api.get(f"/api/v1/imports/{import_id}").json()["state"] == "cancelled"


def test_long_work_is_held_back_over_rest_and_nobody_elses(
    api: TestClient, kernel: Kernel, owner: Account
) -> None:
    with kernel.store.write() as session:
        own = enqueue(session, "ingest.embed_passages", account_id=owner.id)
        foreign = enqueue(session, "ingest.embed_passages", account_id="01" + "0" * 24)
        servers = enqueue(session, "ingest.change_models", account_id=None)
        quick = enqueue(session, FAILS, account_id=owner.id)
    paused = api.post(f"/api/v1/jobs/{own}/pause").json()
    assert (paused["state"], paused["is_paused"], paused["can_pause"]) == ("queued", True, False)
    resumed = api.post(f"/api/v1/jobs/{own}/resume").json()
    assert (resumed["is_paused"], resumed["can_pause"]) == (False, True)
    assert api.post(f"/api/v1/jobs/{foreign}/pause").status_code == 404
    assert api.post(f"/api/v1/jobs/{foreign}/resume").status_code == 404
    assert api.post(f"/api/v1/jobs/{servers}/pause").status_code == 403
    assert api.post(f"/api/v1/jobs/{quick}/pause").status_code == 403


def test_what_the_server_does_for_itself_is_not_called_off(api: TestClient, kernel: Kernel) -> None:
    with kernel.store.write() as session:
        job_id = enqueue(session, FAILS, account_id=None)
    refused = api.post(f"/api/v1/jobs/{job_id}/cancel")
    assert refused.status_code == 403


def test_an_import_whose_job_died_goes_on_when_that_is_tried_again(
    api: TestClient, kernel: Kernel, settings: Settings
) -> None:
    files = {"files": ("export.zip", zipped(dialogue("a", "b")))}
    import_id = api.post("/api/v1/imports", files=files).json()["id"]
    with kernel.store.write() as session:
        session.execute(update(Job).values(failures=MAX_FAILURES, error="The disk is full."))
    run_jobs(api)
    report = api.get(f"/api/v1/imports/{import_id}").json()
    assert (report["state"], report["error"]["message"]) == ("failed", "The disk is full.")
    (job_id,) = failed(api)
    assert api.post(f"/api/v1/jobs/{job_id}/retry").json()["state"] == "queued"
    run_jobs(api)
    report = api.get(f"/api/v1/imports/{import_id}").json()
    assert (report["state"], report["totals"]["new"]) == ("readable", 1)
    assert list(settings.uploads_dir.iterdir()) == []


def test_an_import_whose_files_are_gone_is_not_tried_again_and_says_what_to_do(
    api: TestClient, kernel: Kernel, settings: Settings
) -> None:
    files = {"files": ("export.zip", zipped(dialogue("a", "b")))}
    api.post("/api/v1/imports", files=files)
    with kernel.store.write() as session:
        session.execute(update(Job).values(failures=MAX_FAILURES))
    run_jobs(api)
    for path in settings.uploads_dir.iterdir():
        path.unlink()
    (job_id,) = failed(api)
    refused = api.post(f"/api/v1/jobs/{job_id}/retry")
    assert refused.status_code == 409
    assert "Choose them again" in refused.json()["hint"]
    assert api.post("/api/v1/jobs/retry-failed").json() == {"count": 0}
    with kernel.store.read() as session:
        assert session.query(Import).one().state == "failed"


def test_what_died_of_something_that_passes_is_revived_later_and_not_for_ever(
    kernel: Kernel, owner: Account, dead: AddDead, api: TestClient
) -> None:
    job_id = dead(owner.id)
    assert revive(kernel) == 0, "not at once"
    for revival in range(MAX_REVIVALS):
        with kernel.store.write() as session:
            long_ago = utcnow() - timedelta(hours=2**revival, minutes=1)
            session.execute(update(Job).values(finished_at=long_ago))
        assert revive(kernel) == 1
        with kernel.store.write() as session:
            session.execute(update(Job).values(failures=MAX_FAILURES - 1))
        run_jobs(api)
        assert failed(api) == [job_id]
    with kernel.store.write() as session:
        session.execute(update(Job).values(finished_at=utcnow() - timedelta(days=365)))
    assert revive(kernel) == 0


@pytest.mark.parametrize(
    "values", [{"error_code": "internal"}, {"error_code": "lost"}, {"dismissed_at": utcnow()}]
)
def test_what_would_fail_again_and_what_was_dismissed_is_not_revived(
    kernel: Kernel, owner: Account, dead: AddDead, values: dict[str, Any]
) -> None:
    dead(owner.id, finished_at=utcnow() - timedelta(days=2), **values)
    assert revive(kernel) == 0
