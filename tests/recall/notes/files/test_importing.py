from pathlib import Path

import pytest

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.store.repositories.notes import find_note
from recall.notes import writing
from recall.notes.files.importing import import_notes

VAULT = {
    "Daily/2026-01-01.md": (
        "---\ntags: [daily]\naliases: ['New year']\n---\n[[Plan|the plan]] ![[a.png]]\n"
    ),
    "Plan.md": "# Plan\r\n\r\nwith #ideas\r\n",
    "upper.MD": "x",
    "broken.md": "---\n[\n---\nbody",
    "bom.md": "\ufeff---\na: 1\n---\nx",
    "a.png": "picture",
    "notes.txt": "text",
    ".obsidian/app.json": "{}",
    ".trash/old.md": "x",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    for name, text in VAULT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, newline="")
    (root / "latin.md").write_bytes(b"caf\xe9")
    (root / "link.md").symlink_to("/etc/passwd")
    (root / "links").symlink_to(tmp_path)
    (root / " edge.md").write_text("x")
    return root


def body_of(kernel: Kernel, principal: Principal, path: str) -> str:
    with kernel.store.read() as session:
        note = find_note(session, principal.account_id, path)
    assert note is not None
    return note.body


def test_a_vault_comes_in_with_its_links_and_front_matter_and_a_report_that_adds_up(
    kernel: Kernel, principal: Principal, vault: Path
) -> None:
    trial = import_notes(kernel, principal, vault, is_trial=True)
    report = import_notes(kernel, principal, vault)
    assert [*trial.items] == [*report.items]
    assert report.counts == {"new": 5, "skipped": 6, "failed": 2}
    assert report.found == 13
    reasons = {item.path: item.reason for item in report.items}
    assert reasons["a.png"] == "an attachment, no Markdown"
    assert reasons["link.md"] == "a link, which is not followed"
    assert reasons[".obsidian"] == "hidden"
    assert reasons["latin.md"] == "It is not UTF-8 text."
    assert "space at an edge" in reasons[" edge.md"]
    assert "front matter stays a part of the body" in reasons["broken.md"]
    with kernel.store.read() as session:
        daily = find_note(session, principal.account_id, "Daily/2026-01-01.md")
    assert daily is not None
    assert daily.body == "[[Plan|the plan]] ![[a.png]]\n"
    assert daily.front == "tags: [daily]\naliases: ['New year']\n"
    assert (daily.tags, daily.frontmatter["aliases"]) == (["daily"], ["New year"])
    assert body_of(kernel, principal, "Plan.md") == "# Plan\r\n\r\nwith #ideas\r\n"
    assert body_of(kernel, principal, "broken.md") == "---\n[\n---\nbody"
    assert body_of(kernel, principal, "bom.md") == "x"
    assert body_of(kernel, principal, "upper.md") == "x"


def test_a_trial_run_changes_nothing(kernel: Kernel, principal: Principal, vault: Path) -> None:
    import_notes(kernel, principal, vault, is_trial=True)
    with kernel.store.read() as session:
        assert find_note(session, principal.account_id, "Plan.md") is None


def test_a_second_import_brings_only_what_changed(
    kernel: Kernel, principal: Principal, vault: Path
) -> None:
    import_notes(kernel, principal, vault)
    (vault / "Plan.md").write_text("changed")
    writing.delete_note(kernel, principal, "bom.md")
    report = import_notes(kernel, principal, vault)
    assert report.counts == {"unchanged": 3, "updated": 2, "skipped": 6, "failed": 2}
    assert body_of(kernel, principal, "Plan.md") == "changed"


def test_two_files_that_would_be_one_note_are_told_apart_in_the_report(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    (tmp_path / "caf\u00e9.md").write_text("one")
    (tmp_path / "cafe\u0301.md").write_text("two")
    report = import_notes(kernel, principal, tmp_path)
    assert report.counts["new"] == 1
    assert report.counts["failed"] == 1


def test_what_is_no_folder_and_no_whole_repository_is_refused(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput):
        import_notes(kernel, principal, tmp_path / "nothing")
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    with pytest.raises(InvalidInput):
        import_notes(kernel, principal, root)
    assert import_notes(kernel, principal, root, with_history=False).found == 0
