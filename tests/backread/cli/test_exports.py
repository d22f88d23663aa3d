import json
import zipfile
from pathlib import Path

import pytest

from tests.backread.cli.conftest import Run, answer
from tests.exports import BOILER, GARDEN, write_chatgpt_zip


def test_what_is_exported_is_imported_elsewhere(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("import", write_chatgpt_zip(tmp_path / "export.zip", [GARDEN, BOILER]))
    (tmp_path / "oven.md").write_text("# Warranty\n\nThree years.\n")
    run("files", "add", tmp_path / "oven.md")
    (tmp_path / "oven.md").unlink()
    target = tmp_path / "all.zip"
    result = run("export", target)
    assert result.exit_code == 0, result.output
    assert "2 conversations (2 captures)" in result.stdout
    assert "0 revisions of notes, 0 records, 1 file" in result.stdout
    assert target.stat().st_mode & 0o077 == 0
    assert {each.name for each in tmp_path.iterdir() if each.is_file()} == {"export.zip", "all.zip"}
    with zipfile.ZipFile(target) as archive:
        assert json.loads(archive.read("manifest.json"))["counts"]["conversations"] == 2
    monkeypatch.setenv("BACKREAD_HOME", str(tmp_path / "elsewhere"))
    report = answer(run("import", target, "--json"))
    assert (report["totals"]["new"], report["totals"]["failed"]) == (2, 0)
    again = answer(run("import", target, "--json"))
    assert (again["totals"]["unchanged"], again["messages_new"]) == (2, 0)


def test_a_file_that_is_there_is_not_written_over_unless_asked(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "all.zip"
    target.write_bytes(b"precious")
    refused = run("export", target)
    assert refused.exit_code == 1
    assert "--force" in refused.stderr
    assert target.read_bytes() == b"precious"
    written = answer(run("export", target, "--force", "--json"))
    assert (written["conversations"], written["memories"]) == (0, 0)
    assert [written[kind] for kind in ("note_revisions", "folders", "records", "files")] == [0] * 4
    assert zipfile.is_zipfile(target)
    assert run("export", tmp_path).exit_code == 1
    assert run("export", tmp_path / "no" / "folder.zip").exit_code == 1
