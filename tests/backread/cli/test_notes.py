from pathlib import Path

from tests.backread.cli.conftest import Run, answer


def test_notes_leave_as_a_repository_and_come_in_from_a_folder(run: Run, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("# A\n")
    (vault / "a.png").write_text("picture")
    trial = answer(run("notes", "import", str(vault), "--dry-run", "--json"))
    assert trial["counts"] == {"new": 1, "skipped": 1}
    told = run("notes", "import", str(vault)).stdout
    assert "2 found = 1 new, 1 skipped." in told
    assert "a.png: an attachment, no Markdown" in told
    target = tmp_path / "repo"
    written = answer(run("notes", "export", str(target), "--json"))
    assert (written["notes"], written["commits"]) == (1, 1)
    assert (target / "a.md").read_text() == "# A\n"
    again = run("notes", "export", str(target))
    assert again.exit_code == 1
    assert "is there already" in again.stderr


def test_a_folder_is_kept_in_step_and_conflicts_end_with_code_1(run: Run, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    (one / "a.md").write_text("one")
    assert "new in the notes" in run("notes", "sync", str(one)).stdout
    (other / "a.md").write_text("other")
    result = run("notes", "sync", str(other))
    told = result.stdout
    assert result.exit_code == 1
    assert "conflict  a.md: The folder's version is kept as a (conflict 1).md." in told
    assert (other / "a.md").read_text() == "one"
    assert (other / "a (conflict 1).md").read_text() == "other"
    assert "new in the folder" in run("notes", "sync", str(one)).stdout
    assert (one / "a (conflict 1).md").read_text() == "other"


def test_notes_are_listed_by_path_with_their_titles(run: Run, tmp_path: Path) -> None:
    assert answer(run("notes", "list", "--json")) == {"notes": []}
    vault = tmp_path / "vault"
    (vault / "work").mkdir(parents=True)
    (vault / "work" / "b.md").write_text("# Bees\n")
    (vault / "a.md").write_text("# Apples\n")
    run("notes", "import", str(vault))
    assert run("notes", "list").stdout == "a.md  Apples\nwork/b.md  Bees\n"
    assert answer(run("notes", "list", "--json"))["notes"][1] == {
        "path": "work/b.md",
        "title": "Bees",
    }
