"""`backread imports …`: holding an import back and going on with it."""

from pathlib import Path

import pytest
from sqlalchemy import update

from backread.cli.context import find_principal, open_kernel
from backread.settings import Settings
from backread.store.models import Conversation
from ingest import tasks
from ingest.accept import SourceFile, accept_files
from tests.backread.cli.conftest import Run, answer
from tests.exports import BOILER, GARDEN, write_chatgpt_zip

__all__ = ["tasks"]


@pytest.fixture
def waiting(run: Run, home: Path, tmp_path: Path) -> str:
    """The id of an import that nobody works on yet."""
    run("import", write_chatgpt_zip(tmp_path / "first.zip", [GARDEN]))
    archive = write_chatgpt_zip(tmp_path / "second.zip", [GARDEN, BOILER])
    with open_kernel(_settings(home)) as kernel:
        principal = find_principal(kernel, "")
        with kernel.store.write() as session:
            file = SourceFile(archive.name, archive, archive.stat().st_size)
            return accept_files(session, principal, [file], route="cli")


def _settings(home: Path) -> Settings:
    return Settings(home=home, embedding_model="hashing")


def test_an_import_is_paused_and_resumed(run: Run, waiting: str) -> None:
    paused = run("imports", "pause", waiting)
    assert "Paused." in paused.stdout
    listed = answer(run("imports", "list", "--json"))["imports"]
    assert (listed[0]["id"], listed[0]["state"]) == (waiting, "paused")
    assert "paused" in run("imports", "list").stdout
    assert f"backread imports resume {waiting}" in run("imports", "show", waiting).stderr

    resumed = answer(run("imports", "resume", waiting, "--json"))
    assert resumed["state"] == "readable"
    assert (resumed["totals"]["new"], resumed["totals"]["found"]) == (1, 2)
    assert answer(run("imports", "pause", waiting, "--json")) == {
        "id": waiting,
        "state": "readable",
    }


def test_an_import_that_is_paused_by_its_job_says_how_to_go_on(run: Run, waiting: str) -> None:
    (job,) = [
        each
        for each in answer(run("jobs", "list", "--json"))["jobs"]
        if (each["name"], each["state"]) == ("ingest.run_import", "queued")
    ]
    assert f"backread imports resume {waiting}" in run("jobs", "pause", job["id"]).stdout


def test_an_import_is_stopped(run: Run, waiting: str) -> None:
    assert "Stopped." in run("imports", "stop", waiting).stdout
    assert answer(run("imports", "show", waiting, "--json"))["state"] == "cancelled"


def test_an_unknown_import_is_an_error(run: Run, waiting: str) -> None:
    for command in ("pause", "resume", "stop", "show"):
        result = run("imports", command, "nonsense", "--json")
        assert result.exit_code == 1
        assert answer(result)["error"]["code"] == "not_found"


def test_outdated_conversations_are_read_again(run: Run, home: Path, tmp_path: Path) -> None:
    run("import", write_chatgpt_zip(tmp_path / "export.zip", [GARDEN, BOILER]))
    with open_kernel(_settings(home)) as kernel, kernel.store.write() as session:
        old = update(Conversation).values(parser_version=0)
        session.execute(old.where(Conversation.title.like("The boiler%")))
    read = answer(run("reindex", "--outdated", "--json"))
    assert read["accounts"][0]["conversations"] == 1
    assert answer(run("reindex", "--outdated", "--json"))["accounts"][0]["conversations"] == 0
