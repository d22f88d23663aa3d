"""Notes leave in the archive and arrive with their whole history."""

import json
import zipfile
from pathlib import Path
from typing import Any

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.repositories.notes import find_note, revisions_page
from ingest.own_archive.writing import ArchiveWriter
from recall.notes import writing
from recall.notes.meaning import similar_notes
from tests.conftest import new_principal
from tests.ingest.exports import import_files


def filled(kernel: Kernel, principal: Principal) -> None:
    client = Principal(principal.account_id, client_id="brc_writer")
    writing.write_note(kernel, principal, "boats/oak.md", "Oak planks.\r\n", {"tags": ["wood"]})
    writing.write_note(kernel, principal, "gone.md", "Old boat.")
    writing.edit_note(kernel, client, "boats/oak.md", body="And nails.", mode="append")
    writing.delete_note(kernel, principal, "gone.md")
    writing.write_file(kernel, principal, "mine.md", "---\n# kept\na: 'x'\n---\ntext")


def archive(kernel: Kernel, principal: Principal, target: Path) -> Path:
    target.write_bytes(b"".join(ArchiveWriter(kernel, principal).pieces()))
    return target


def everything(kernel: Kernel, principal: Principal) -> list[tuple[Any, ...]]:
    with kernel.store.read() as session:
        return [
            (
                path,
                each.number,
                each.seq,
                each.kind,
                each.front,
                each.body,
                each.is_deleted,
                each.client_id,
                each.made_at,
            )
            for each, path in revisions_page(session, principal.account_id, 0)
        ]


def test_notes_come_back_with_their_history_once_and_are_found(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    filled(kernel, principal)
    path = archive(kernel, principal, tmp_path / "all.zip")
    cleo = new_principal(kernel.store, "cleo@example.org")
    report = import_files(kernel, cleo, path)
    assert "From the archive: 5 revisions of notes added." in report.warnings
    history = everything(kernel, principal)
    assert everything(kernel, cleo) == history
    again = import_files(kernel, cleo, path)
    assert "From the archive: 0 revisions of notes added, 5 here already." in again.warnings
    assert everything(kernel, cleo) == history
    run_pending(kernel)
    found = similar_notes(kernel, cleo, "oak planks and nails").results
    assert found[0].path == "boats/oak.md"
    assert "gone.md" not in {each.path for each in found}


def test_a_note_that_is_here_keeps_its_own_history(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    filled(kernel, principal)
    path = archive(kernel, principal, tmp_path / "all.zip")
    cleo = new_principal(kernel.store, "cleo@example.org")
    writing.write_note(kernel, cleo, "boats/oak.md", "mine")
    import_files(kernel, cleo, path)
    with kernel.store.read() as session:
        note = find_note(session, cleo.account_id, "boats/oak.md")
        assert note is not None
        assert (note.number, note.body) == (1, "mine")
        assert find_note(session, cleo.account_id, "mine.md") is not None


def test_history_that_has_grown_since_goes_on(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    filled(kernel, principal)
    cleo = new_principal(kernel.store, "cleo@example.org")
    import_files(kernel, cleo, archive(kernel, principal, tmp_path / "one.zip"))
    writing.write_note(kernel, principal, "gone.md", "back")
    report = import_files(kernel, cleo, archive(kernel, principal, tmp_path / "two.zip"))
    assert "From the archive: 1 revision of notes added, 5 here already." in report.warnings
    assert everything(kernel, cleo) == everything(kernel, principal)


def test_hostile_lines_cost_only_themselves(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    sound = {
        "backread": "note_revision",
        "path": "a.md",
        "number": 1,
        "kind": "write",
        "body": "x",
        "made_at": "2026-01-01T00:00:00+00:00",
    }
    bent: list[dict[str, Any]] = [
        {"path": "../a.md"},
        {"path": ".git/a.md"},
        {"number": 3},
        {"number": "1"},
        {"number": 2**40},
        {"kind": "steal"},
        {"body": None},
        {"body": "\x00"},
        {"front": "a: &x [*x]"},
        {"made_at": "never"},
    ]
    lines = [json.dumps(sound | {"path": "b.md"} | each) for each in bent] + [json.dumps(sound)]
    path = tmp_path / "hostile.zip"
    with zipfile.ZipFile(path, "w") as target:
        target.writestr("manifest.json", json.dumps({"backread_archive": 1}))
        target.writestr("notes.ndjson", "\n".join(lines))
    report = import_files(kernel, principal, path)
    told = "From the archive: 1 revision of notes added, 10 that could not be read."
    assert told in report.warnings
    assert [each[0] for each in everything(kernel, principal)] == ["a.md"]
