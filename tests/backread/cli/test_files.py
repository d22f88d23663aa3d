import hashlib
from pathlib import Path

from tests.backread.cli.conftest import Run, answer
from tests.ingest.documents.makers import encrypted_pdf, pdf

MANUAL = pdf(["The oven manual. Parts and labour are covered for three years from the receipt on."])


def test_documents_are_added_found_and_removed_without_a_server(run: Run, tmp_path: Path) -> None:
    (tmp_path / "Oven.pdf").write_bytes(MANUAL)
    added = run("files", "add", tmp_path / "Oven.pdf", "--bucket", "Home")
    assert added.exit_code == 0, added.output
    assert "added: Oven.pdf, 1 passage" in added.stdout
    (listed,) = answer(run("files", "list", "--json"))["files"]
    assert (listed["bucket"], listed["state"], listed["pages"]) == ("Home", "ready", 1)
    assert listed["sha256"] == hashlib.sha256(MANUAL).hexdigest()
    assert "Oven.pdf, page 1" in run("files", "search", "labour covered").stdout
    assert "unchanged" in run("files", "add", tmp_path / "Oven.pdf", "--bucket", "Home").stdout
    removed = run("files", "remove", "Oven.pdf")
    assert "Deleted Oven.pdf: 1 original, 1 passage, and from the index." in removed.stdout
    assert "There are no files." in run("files", "list").stdout
    assert "Nothing found." in run("files", "search", "labour covered").stdout


def test_a_folder_comes_in_whole_and_what_cannot_be_read_says_why(run: Run, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    (papers / "old").mkdir(parents=True)
    (papers / "tea.md").write_text("# Tea\n\nGreen tea.")
    (papers / "old" / "locked.pdf").write_bytes(encrypted_pdf())
    (papers / ".hidden").write_text("not this one")
    result = run("files", "add", papers)
    assert result.exit_code == 1
    assert "added: papers/tea.md" in result.stdout
    assert "encrypted with a password" in result.stderr
    names = [each["name"] for each in answer(run("files", "list", "--json"))["files"]]
    assert names == ["papers/old/locked.pdf", "papers/tea.md"]


def test_documents_are_read_anew_from_their_originals(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("# Tea\n\nGreen tea.")
    run("files", "add", tmp_path / "tea.md")
    assert answer(run("files", "reread", "--json"))["accounts"][0]["files"] == 0
    assert "1 file and 0 project documents to read anew" in run("files", "reread", "--all").stdout
    assert answer(run("files", "list", "--json"))["files"][0]["state"] == "ready"
    assert "tea.md, Tea" in run("files", "search", "green tea").stdout


def test_what_is_not_there_is_said(run: Run, tmp_path: Path) -> None:
    assert "Check the name" in run("files", "add", tmp_path / "no.pdf").stderr
    assert "no file x.pdf" in run("files", "remove", "x.pdf").stderr
    assert "no file bucket Attic" in run("files", "list", "--bucket", "Attic").stderr
    (tmp_path / "a.md").write_text("# Tea")
    for bucket in ("One", "Two"):
        run("files", "add", tmp_path / "a.md", "--bucket", bucket)
    assert "--bucket" in run("files", "remove", "a.md").stderr
    assert run("files", "remove", "a.md", "--bucket", "Two").exit_code == 0
    assert [each["bucket"] for each in answer(run("files", "list", "--json"))["files"]] == ["One"]
