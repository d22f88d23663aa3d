from pathlib import Path

from tests.backread.cli.conftest import Run, answer, start_command
from tests.exports import BOILER, GARDEN, write_chatgpt_zip

_TOTALS = {"found": 0, "new": 0, "updated": 0, "unchanged": 0, "skipped": 0, "failed": 0}


def test_an_archive_is_imported_without_a_server_and_found_at_once(
    run: Run, tmp_path: Path
) -> None:
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN, BOILER])
    imported = run("import", archive, "--json")
    assert imported.exit_code == 0, imported.output
    report = answer(imported)
    assert report["totals"] == _TOTALS | {"found": 2, "new": 2}
    assert report["state"] == "readable"
    assert report["passages_without_vectors"] == 0

    recalled = answer(run("recall", "what does error E47 of the boiler mean", "--json"))
    assert "pressure sensor" in recalled["answers"][0]["summary"]
    source = recalled["sources"][0]
    assert source["platform"] == "chatgpt"
    assert f"/c/{source['conversationId']}" in source["readerUrl"]

    found = answer(run("search", "Zuckertraube", "--json"))
    assert "Zuckertraube" in found["hits"][0]["text"]


def test_the_same_archive_again_adds_nothing(run: Run, tmp_path: Path) -> None:
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN])
    run("import", archive)
    again = answer(run("import", archive, "--json"))
    assert again["totals"] == _TOTALS | {"found": 1, "unchanged": 1}


def test_a_dry_run_reports_and_stores_nothing(run: Run, tmp_path: Path) -> None:
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN])
    dry = answer(run("import", "--dry-run", archive, "--json"))
    assert dry["totals"] == _TOTALS | {"found": 1, "new": 1}
    real = answer(run("import", archive, "--json"))
    assert real["totals"] == _TOTALS | {"found": 1, "new": 1}
    real_line, dry_line = run("imports", "list").stdout.splitlines()
    assert "trial run" in dry_line
    assert "trial run" not in real_line


def test_people_get_a_report_in_words(run: Run, tmp_path: Path) -> None:
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN, BOILER])
    result = run("import", archive)
    assert "2 conversations (2 of chatgpt)" in result.stdout
    assert "2 new, 0 updated, 0 unchanged, 0 skipped, 0 failed" in result.stdout
    assert "4 new messages, from 2024-03-05 to 2024-03-05" in result.stdout


def test_a_file_that_is_no_export_fails_with_its_reason(run: Run, tmp_path: Path) -> None:
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(b"\xff\xd8\xff\xe0" + bytes(100))
    result = run("import", photo)
    assert result.exit_code == 1
    assert "Not imported:" in result.stderr
    assert result.stdout == ""
    assert "photo.jpg" in result.stderr

    as_json = run("import", photo, "--json")
    assert as_json.exit_code == 1
    report = answer(as_json)
    assert report["state"] == "failed"
    assert report["error"]["message"]


def test_a_file_that_is_not_there_is_an_error_for_people_and_for_programs(
    run: Run, tmp_path: Path
) -> None:
    result = run("import", tmp_path / "nothing.zip")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "There is no file" in result.stderr
    assert "nothing.zip" in result.stderr

    as_json = run("import", tmp_path / "nothing.zip", "--json")
    assert as_json.exit_code == 1
    error = answer(as_json)["error"]
    assert error["code"] == "unreadable_import"
    assert "nothing.zip" in error["message"]


def test_the_installed_command_imports_from_another_process(
    environment: dict[str, str], tmp_path: Path
) -> None:
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN])
    command = start_command(environment, "import", archive, "--wait")
    output, errors = command.communicate(timeout=90)
    assert command.returncode == 0, errors
    assert "1 new" in output


def test_of_several_accounts_one_must_be_named(run: Run, tmp_path: Path) -> None:
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN])
    for email in ("ada@example.org", "boris@example.org"):
        assert run("user", "add", email).exit_code == 0
    unnamed = run("import", archive, "--json")
    assert unnamed.exit_code == 1
    assert "--account" in answer(unnamed)["error"]["hint"]

    named = run("import", archive, "--account", "ada@example.org", "--json")
    assert answer(named)["totals"]["new"] == 1
    others = run("search", "Zuckertraube", "--account", "boris@example.org", "--json")
    assert answer(others)["hits"] == []

    unknown = run("import", archive, "--account", "carol@example.org", "--json")
    assert answer(unknown)["error"]["code"] == "not_found"
