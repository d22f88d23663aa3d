"""Every case of two sides that changed or did not, and folders that mean harm."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from backread.domain import Principal
from backread.errors import Conflict, InvalidInput, NotFound
from backread.kernel import Kernel
from backread.notes.frontmatter import join
from backread.store.repositories.notes import find_note
from recall.notes import writing
from recall.notes.files.folder import NotesFolder
from recall.notes.files.syncing import sync_notes

PATH = "work/a.md"
BASE = "one\ntwo\nthree\nfour\nfive\n"
FIRST, LAST = BASE.replace("one", "ONE"), BASE.replace("five", "FIVE")
OTHER_FIRST = BASE.replace("one", "1")


class Both:
    """A folder and the notes of somebody."""

    def __init__(self, kernel: Kernel, principal: Principal, root: Path) -> None:
        self.kernel, self.principal, self.root = kernel, principal, root
        root.mkdir()

    def sync(self, **more: Any) -> dict[str, str]:
        report = sync_notes(self.kernel, self.principal, self.root, **more)
        assert report.found == sum(report.counts.values())
        return {item.path: item.outcome for item in report.items}

    def set_note(self, text: str | None, path: str = PATH) -> None:
        if text is not None:
            writing.write_file(self.kernel, self.principal, path, text)
        elif self.note(path) is not None:
            writing.delete_note(self.kernel, self.principal, path)

    def set_file(self, text: str | None, path: str = PATH) -> None:
        target = self.root / path
        if text is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, newline="")

    def note(self, path: str = PATH) -> str | None:
        with self.kernel.store.read() as session:
            note = find_note(session, self.principal.account_id, path)
        return None if note is None or note.deleted_at else join(note.front, note.body)

    def file(self, path: str = PATH) -> str | None:
        target = self.root / path
        return target.read_bytes().decode() if target.exists() else None


@pytest.fixture
def both(kernel: Kernel, principal: Principal, tmp_path: Path) -> Both:
    return Both(kernel, principal, tmp_path / "folder")


@pytest.mark.parametrize(
    ("base", "file", "note", "outcome", "result"),
    [
        (None, None, None, None, None),
        (None, BASE, None, "new in the notes", BASE),
        (None, None, BASE, "new in the folder", BASE),
        (None, BASE, BASE, "unchanged", BASE),
        (BASE, BASE, BASE, "unchanged", BASE),
        (BASE, FIRST, BASE, "updated in the notes", FIRST),
        (BASE, BASE, FIRST, "updated in the folder", FIRST),
        (BASE, FIRST, FIRST, "unchanged", FIRST),
        (BASE, FIRST, LAST, "merged", FIRST.replace("five", "FIVE")),
        (BASE, None, BASE, "deleted in the notes", None),
        (BASE, BASE, None, "deleted in the folder", None),
        (BASE, None, None, None, None),
        (BASE, None, FIRST, "new in the folder", FIRST),
        (BASE, FIRST, None, "updated in the notes", FIRST),
    ],
)
def test_both_sides_say_the_same_afterwards(
    both: Both,
    base: str | None,
    file: str | None,
    note: str | None,
    outcome: str | None,
    result: str | None,
) -> None:
    if base is not None:
        both.set_note(base)
        both.sync()
    both.set_note(note)
    both.set_file(file)
    before = (both.file(), both.note())
    trial = both.sync(is_trial=True)
    assert (both.file(), both.note()) == before
    assert both.sync() == trial
    assert trial.get(PATH) == outcome
    assert (both.file(), both.note()) == (result, result)
    assert both.sync() == ({} if result is None else {PATH: "unchanged"})


@pytest.mark.parametrize("base", [BASE, None])
def test_a_conflict_keeps_both_versions_on_both_sides(both: Both, base: str | None) -> None:
    if base is not None:
        both.set_note(base)
        both.sync()
    both.set_note(FIRST)
    both.set_file(OTHER_FIRST)
    assert both.sync() == {PATH: "conflict"}
    beside = "work/a (conflict 1).md"
    assert both.note() == both.file() == FIRST
    assert both.note(beside) == both.file(beside) == OTHER_FIRST
    assert both.sync() == {PATH: "unchanged", beside: "unchanged"}


def test_changes_of_front_matter_and_body_are_merged_apart(both: Both) -> None:
    both.set_note("---\na: 1\nb: 2\n---\nbody\n")
    both.sync()
    both.set_note("---\na: 3\nb: 2\n---\nbody\n")
    both.set_file("---\na: 1\nb: 2\n---\nbody, changed\n")
    assert both.sync() == {PATH: "merged"}
    assert both.note() == both.file() == "---\na: 3\nb: 2\n---\nbody, changed\n"


def test_a_file_is_not_written_again_when_it_only_ends_its_lines_otherwise(both: Both) -> None:
    both.set_file("---\r\na: 1\r\n---\r\nbody\r\n")
    both.sync()
    before = (both.root / PATH).stat().st_mtime_ns
    both.sync()
    assert both.file() == "---\r\na: 1\r\n---\r\nbody\r\n"
    assert (both.root / PATH).stat().st_mtime_ns == before
    assert both.note() is not None


def test_a_folder_that_was_emptied_deletes_nothing_without_being_told(both: Both) -> None:
    for index in range(12):
        both.set_note("x", f"{index}.md")
    both.sync()
    for index in range(12):
        both.set_file(None, f"{index}.md")
    with pytest.raises(Conflict, match="12 of 12 files are gone"):
        both.sync()
    assert both.note("3.md") == "x"
    assert set(both.sync(may_delete_many=True).values()) == {"deleted in the notes"}
    assert both.note("3.md") is None


def test_a_note_that_was_taken_away_for_good_goes_from_the_folder_too(both: Both) -> None:
    both.set_note("secret", "a.md")
    both.set_note("kept", "b.md")
    both.sync()
    both.set_file("edited", "b.md")
    for path in ("a.md", "b.md"):
        both.set_note(None, path)
        writing.purge_note(both.kernel, both.principal, path)
    assert both.sync() == {"a.md": "deleted in the folder", "b.md": "new in the notes"}
    assert both.file("a.md") is None
    assert both.note("b.md") == "edited"


def test_links_lead_nowhere(both: Both, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("outside")
    both.set_note("mine", "work/a.md")
    both.set_note("mine", "b.md")
    both.set_note("mine", "c.md")
    (both.root / "work").symlink_to(outside)
    (both.root / "b.md").symlink_to(outside / "a.md")
    (both.root / "c.md").mkdir()
    result = both.sync()
    assert {path: result[path] for path in ("work/a.md", "b.md", "c.md")} == dict.fromkeys(
        ("work/a.md", "b.md", "c.md"), "failed"
    )
    assert (outside / "a.md").read_text() == "outside"
    assert sorted(os.listdir(outside)) == ["a.md"]
    for path in ("work/a.md", "b.md", "c.md"):
        assert both.note(path) == "mine"


def test_gits_and_editors_files_are_left_alone(both: Both) -> None:
    both.set_file("x", ".git/hooks/a.md")
    both.set_file("x", ".obsidian/a.md")
    both.set_file("x", "a.png")
    assert both.sync() == {".obsidian": "skipped", "a.png": "skipped"}


def test_on_a_file_system_that_knows_no_case_neither_note_is_lost(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NotesFolder, "tells_case_apart", False)
    both.set_note("upper", "A.md")
    both.set_note("lower", "a.md")
    assert both.sync() == {"A.md": "new in the folder", "a.md": "failed"}
    assert both.file("A.md") == "upper"
    assert not (both.root / "a.md").exists()
    assert both.note("a.md") == "lower"


def test_what_cannot_be_a_note_is_reported_and_stays(both: Both) -> None:
    both.set_file("x", "bad..md")
    both.set_file("x" * (both.kernel.settings.note_max_bytes + 1), "large.md")
    (both.root / "latin.md").write_bytes(b"\xe9")
    both.set_file("x", " a.md")
    result = both.sync()
    assert result == {
        "bad..md": "new in the notes",
        "large.md": "failed",
        "latin.md": "failed",
        " a.md": "failed",
    }
    assert both.file("large.md")


def test_a_note_that_changes_in_between_is_not_written_over(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    both.set_note(BASE)
    both.sync()
    both.set_file(FIRST)
    read = NotesFolder.read

    def meanwhile(self: NotesFolder, name: str) -> bytes:
        content = read(self, name)
        monkeypatch.setattr(NotesFolder, "read", read)
        both.set_file(OTHER_FIRST)
        return content

    both.set_note(LAST)
    monkeypatch.setattr(NotesFolder, "read", meanwhile)
    assert both.sync() == {PATH: "failed"}
    assert both.file() == OTHER_FIRST
    assert both.sync() == {PATH: "conflict"}
    assert "FIVE" in (both.note() or "")
    assert both.note("work/a (conflict 1).md") == OTHER_FIRST


def test_no_temporary_file_is_left(both: Both) -> None:
    both.set_note("x")
    both.sync()
    names = [path.name for path in both.root.rglob("*") if path.is_file()]
    assert sorted(names) == ["a.md", "sync.json"]


@pytest.mark.parametrize("content", ["{", "[]", '{"backread_sync": 2}', '{"backread_sync": 1}'])
def test_a_state_that_cannot_be_read_is_not_guessed(both: Both, content: str) -> None:
    (both.root / ".backread").mkdir()
    (both.root / ".backread/sync.json").write_text(content)
    with pytest.raises(InvalidInput):
        both.sync()


def test_a_folder_is_one_accounts(both: Both, stranger: Principal) -> None:
    both.set_note("x")
    both.sync()
    with pytest.raises(Conflict):
        sync_notes(both.kernel, stranger, both.root)
    with pytest.raises(NotFound):
        writing.delete_note(both.kernel, stranger, PATH)
    state = json.loads((both.root / ".backread/sync.json").read_text())
    assert list(state["notes"]) == [PATH]
