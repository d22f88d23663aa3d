"""`backread jobs …`: what failed, and trying it again."""

from pathlib import Path

import pytest
from sqlalchemy import update

from backread.cli.context import find_principal, open_kernel
from backread.jobs import enqueue
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Job
from tests.backread.cli.conftest import Run, answer
from tests.exports import GARDEN, write_chatgpt_zip


@pytest.fixture
def failed(run: Run, home: Path, tmp_path: Path) -> str:
    """The id of a job that failed."""
    run("import", write_chatgpt_zip(tmp_path / "first.zip", [GARDEN]))
    with open_kernel(Settings(home=home, embedding_model="hashing")) as kernel:
        principal = find_principal(kernel, "")
        with kernel.store.write() as session:
            job_id = enqueue(session, "ingest.read_again", account_id=principal.account_id)
            session.execute(
                update(Job)
                .where(Job.id == job_id)
                .values(
                    state="dead",
                    error="The disk is full.",
                    attempts=25,
                    started_at=utcnow(),
                    finished_at=utcnow(),
                )
            )
    return job_id


def test_what_failed_is_listed_shown_and_tried_again(run: Run, failed: str) -> None:
    (listed,) = answer(run("jobs", "list", "--failed", "--json"))["jobs"]
    assert (listed["id"], listed["label"]) == (failed, "Reading conversations again")
    assert "The disk is full." in run("jobs", "list").stdout
    shown = run("jobs", "show", failed).stdout
    assert "25 attempts" in shown
    assert answer(run("jobs", "retry", failed, "--json")) == {"id": failed, "state": "queued"}
    assert answer(run("jobs", "show", failed, "--json"))["state"] == "queued"
    assert "It is cancelled." in run("jobs", "cancel", failed).stdout


def test_all_that_failed_is_tried_again_or_one_dismissed(run: Run, failed: str) -> None:
    assert "Dismissed." in run("jobs", "dismiss", failed).stdout
    assert answer(run("jobs", "list", "--failed", "--json")) == {"jobs": []}
    assert "0 jobs will be tried again." in run("jobs", "retry", "--all").stdout


def test_long_work_is_paused_and_goes_on(run: Run, failed: str) -> None:
    run("jobs", "retry", failed)
    assert f"backread jobs resume {failed}" in run("jobs", "pause", failed).stdout
    assert answer(run("jobs", "show", failed, "--json"))["is_paused"]
    assert "It goes on." in run("jobs", "resume", failed).stdout
    assert not answer(run("jobs", "show", failed, "--json"))["is_paused"]


def test_a_retry_names_its_job(run: Run, failed: str) -> None:
    for arguments in ((), (failed, "--all")):
        refused = run("jobs", "retry", *arguments, "--json")
        assert refused.exit_code == 1
        assert answer(refused)["error"]["code"] == "invalid_input"
    assert answer(run("jobs", "cancel", "nonsense", "--json"))["error"]["code"] == "not_found"


def test_what_was_done_again_and_again_is_one_line(run: Run, home: Path, failed: str) -> None:
    with open_kernel(Settings(home=home, embedding_model="hashing")) as kernel:
        account_id = find_principal(kernel, "").account_id
        with kernel.store.write() as session:
            for _ in range(60):
                job_id = enqueue(session, "recall.categorise_bucket", account_id=account_id)
                session.execute(
                    update(Job).where(Job.id == job_id).values(state="done", finished_at=utcnow())
                )
    told = run("jobs", "list").stdout
    assert told.count("Sorting memories into categories") == 1
    assert "(the latest of 60)" in told
    assert "The disk is full." in told
    assert "Import first.zip" in told
    assert len(answer(run("jobs", "list", "--json"))["jobs"]) == 50
