"""A watched folder. Time passes only where a test lets it: `Script` stands for the system's events
and for the clock."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from backread.cli import watching
from backread.cli.watched_folder import WatchedFolder
from tests.backread.cli.conftest import Run, answer, start_command
from tests.exports import BOILER, GARDEN, as_zip, chatgpt, write, write_chatgpt_zip

Step = Callable[[], object]
Watch = Callable[..., list[Any]]


class Script:
    """Each wait ends with the next step done; after the last one the command is stopped."""

    def __init__(self, steps: list[Step], stop: threading.Event) -> None:
        self._steps = iter(steps)
        self._stop = stop
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def wait(self, seconds: float) -> None:
        self._now += seconds
        if seconds < 30:
            return  # something is about to settle
        step = next(self._steps, None)
        if step is None:
            self._stop.set()
        else:
            step()

    def start_over(self) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "downloads"
    path.mkdir()
    return path


@pytest.fixture
def watch(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Watches the folder while `steps` happen one after the other; the objects printed."""

    def watch_it(*steps: Step, exit_code: int = 0) -> list[Any]:
        monkeypatch.setattr(watching, "FolderChanges", lambda _, stop: Script(list(steps), stop))
        result = run("import", "--watch", folder, "--json")
        assert result.exit_code == exit_code, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]

    return watch_it


def _names(reports: list[Any]) -> list[str]:
    return [report["files"][0]["name"] for report in reports]


def test_what_lies_in_the_folder_is_imported_and_then_what_comes_and_changes(
    watch: Watch, folder: Path, run: Run
) -> None:
    write_chatgpt_zip(folder / "first.zip", [GARDEN])
    reports = watch(
        lambda: write(folder / "later.json", [chatgpt("later")]),
        lambda: write_chatgpt_zip(folder / "first.zip", [GARDEN, BOILER]),
    )
    assert _names(reports) == ["first.zip", "later.json", "first.zip"]
    assert [report["totals"]["new"] for report in reports] == [1, 1, 1]
    assert reports[2]["totals"]["unchanged"] == 1
    assert answer(run("search", "Zuckertraube", "--json"))["hits"]


def test_nothing_is_read_twice_also_after_a_new_start(watch: Watch, folder: Path) -> None:
    write_chatgpt_zip(folder / "first.zip", [GARDEN])
    assert len(watch(lambda: None, lambda: None)) == 1
    assert watch(lambda: None) == []
    os.utime(folder / "first.zip", (1, 1))
    (again,) = watch()
    assert again["totals"]["unchanged"] == 1


def test_a_file_that_cannot_be_read_is_told_once_and_stops_nothing(
    watch: Watch, folder: Path
) -> None:
    write(folder / "a-broken.zip", b"PK\x03\x04 cut off")
    write(folder / "b.json", [chatgpt()])
    reports = watch(lambda: None, lambda: write(folder / "c.json", [chatgpt("c")]))
    assert _names(reports) == ["a-broken.zip", "b.json", "c.json"]
    assert [report["state"] for report in reports] == ["failed", "readable", "readable"]
    assert "incomplete" in reports[0]["error"]["message"]


def test_a_folder_in_it_is_one_import(watch: Watch, folder: Path) -> None:
    write(folder / "export" / "conversations-000.json", [chatgpt("a")])
    write(folder / "export" / "conversations-001.json", [chatgpt("b")])
    reports = watch(
        lambda: write(folder / "export" / "deep" / "conversations-002.json", [chatgpt("c")])
    )
    assert _names(reports) == ["export", "export"]
    assert (reports[0]["totals"]["new"], reports[1]["totals"]["new"]) == (2, 1)


def test_nothing_in_the_folder_is_ever_changed(watch: Watch, folder: Path) -> None:
    write_chatgpt_zip(folder / "good.zip", [GARDEN])
    write(folder / "bad.zip", b"PK\x03\x04")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    watch()
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    assert after == before


def test_a_folder_that_goes_away_is_told_once_and_watched_again_when_it_is_back(
    watch: Watch, folder: Path
) -> None:
    aside = folder.with_name("aside")
    lines = watch(
        lambda: folder.rename(aside),
        lambda: None,
        lambda: aside.rename(folder),
        lambda: write(folder / "back.json", [chatgpt("back")]),
    )
    assert "cannot be read now" in lines[0]["error"]["message"]
    assert _names(lines[1:]) == ["back.json"]


def test_an_import_that_did_not_end_goes_on_after_a_new_start(
    watch: Watch, folder: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    write(folder / "a.json", [chatgpt("a")])

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("backread.cli.following.follow_import", interrupted)
        watch(exit_code=130)
    (report,) = watch()
    assert report["totals"]["new"] == 1
    assert watch() == []


def test_people_see_what_each_file_brought(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_chatgpt_zip(folder / "first.zip", [GARDEN])
    monkeypatch.setattr(watching, "FolderChanges", lambda _, stop: Script([], stop))
    result = run("import", "--watch", folder)
    assert "first.zip:\nFound 1 conversation (1 of chatgpt)" in result.stdout
    assert "Ctrl+C stops" in result.stderr


def test_a_name_that_is_no_text_stops_nothing(watch: Watch, run: Run, folder: Path) -> None:
    name = b"caf\xe9.json"
    write(folder / os.fsdecode(name), [chatgpt("a")])
    write(folder / "inside" / os.fsdecode(name), [chatgpt("b")])
    reports = watch()
    assert [report["totals"]["new"] for report in reports] == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["import", "--watch", "nowhere"], "There is no folder"),
        (["import", "--watch", ".", "file.zip"], "--watch goes with neither"),
        (["import", "--watch", ".", "--dry-run"], "--watch goes with neither"),
    ],
)
def test_what_cannot_be_watched_is_refused_in_words(
    run: Run, arguments: list[str], words: str
) -> None:
    result: Result = run(*arguments, "--json")
    assert result.exit_code == 1
    assert words in answer(result)["error"]["message"]


def test_a_growing_file_is_ready_once_it_stays_as_it_is(folder: Path) -> None:
    watched = WatchedFolder(folder, settle_seconds=2, done={})
    for second in range(4):
        write(folder / "film.zip", b"x" * (second + 1))
        assert watched.ready(second) == []
    assert watched.ready(4.9) == []
    assert watched.seconds_to_wait(4.9) == pytest.approx(0.1)
    (entry,) = watched.ready(5)
    watched.done(entry)
    assert watched.ready(100) == []
    assert watched.seconds_to_wait(100) is None


@pytest.mark.parametrize(
    "name",
    [
        "export.zip.crdownload",
        "export.zip.part",
        "export.zip.tmp",
        ".export.zip.Xy12",
        ".hidden.json",
        "~$lock.json",
        "chats.json~",
        "photo.jpg",
        "folder/conversations.json.part",
        "folder/.hidden.json",
    ],
)
def test_unfinished_hidden_and_other_files_are_left_alone(folder: Path, name: str) -> None:
    write(folder / name, b"[]")
    watched = WatchedFolder(folder, settle_seconds=0, done={})
    assert watched.ready(0) == []


def test_a_browsers_placeholder_and_links_are_left_alone(folder: Path, tmp_path: Path) -> None:
    write(folder / "empty.zip", b"")
    write(folder / "started.zip", b"PK")
    write(folder / "started.zip.part", b"PK")
    (folder / "link.json").symlink_to(write(tmp_path / "outside.json", b"[]"))
    (folder / "link").symlink_to(tmp_path)
    assert WatchedFolder(folder, settle_seconds=0, done={}).ready(0) == []


@pytest.fixture
def watcher(environment: dict[str, str], folder: Path) -> Iterator["subprocess.Popen[str]"]:
    process = start_command(environment, "import", "--watch", folder, "--json")
    yield process
    process.kill()
    process.communicate()


def test_the_installed_command_hears_of_a_finished_download(
    watcher: "subprocess.Popen[str]", folder: Path
) -> None:
    assert watcher.stdout is not None
    assert watcher.stderr is not None
    assert "Watching" in watcher.stderr.readline()
    as_zip({"conversations.json": [chatgpt("late")]}, folder / "late.zip.part")
    (folder / "late.zip.part").rename(folder / "late.zip")
    assert json.loads(watcher.stdout.readline())["totals"]["new"] == 1
    watcher.send_signal(signal.SIGINT)
    assert watcher.wait(timeout=30) == 0
