import json
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import delete

from backread.store.engine import Store
from backread.store.models import Message
from tests.backread.cli.conftest import Run, answer
from tests.exports import BOILER, GARDEN, write_chatgpt_zip


def test_help_names_every_command_a_person_needs(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in (
        "up",
        "import",
        "export",
        "recall",
        "search",
        "user",
        "reindex",
        "verify",
        "migrate",
    ):
        assert command in result.stdout
    assert "index-owner" not in result.stdout


def test_help_does_not_load_the_server(environment: dict[str, str]) -> None:
    """What the commands need is imported when they run."""
    loaded = _modules_after("import backread.cli.app", environment)
    assert not loaded & {"sqlalchemy", "fastapi", "celery", "numpy", "mcp", "onnxruntime"}


def _modules_after(code: str, environment: dict[str, str]) -> set[str]:
    printed = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        env=environment | {"PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(printed.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["import"], "FILE"),
        (["no-such-command"], "no-such-command"),
        (["recall", "x", "--max-tokens", "many"], "--max-tokens"),
    ],
)
def test_a_command_that_is_not_understood_exits_with_2(
    run: Run, arguments: list[str], named: str
) -> None:
    plain = run(*arguments)
    assert plain.exit_code == 2
    assert named in plain.stderr
    as_json = run(*arguments, "--json")
    assert as_json.exit_code == 2
    assert named in answer(as_json)["error"]["message"]


def test_a_wrong_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKREAD_PUBLIC_URL", "http://chat.example.org")
    error = answer(run("recall", "x", "--json"))["error"]
    assert "BACKREAD_PUBLIC_URL" in error["message"]
    assert "https" in error["message"]


def test_a_data_folder_that_cannot_be_made_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BACKREAD_HOME", str(tmp_path / "file" / "data"))
    for command in (["up", "--port", "0"], ["search", "x"], ["migrate"]):
        result = run(*command)
        assert result.exit_code == 1
        assert str(tmp_path / "file") in result.stderr
        assert "BACKREAD_HOME" in result.stderr


def test_recall_takes_every_parameter_of_the_tool(run: Run, tmp_path: Path) -> None:
    run("import", write_chatgpt_zip(tmp_path / "export.zip", [GARDEN, BOILER]))
    history = tmp_path / "history.json"
    history.write_text(json.dumps([{"role": "user", "content": "My boiler is broken."}]))
    recalled = answer(
        run(
            "recall",
            "What does E47 mean?",
            "Which tomatoes?",
            *("--max-tokens", "200", "--after", "2024-03-01", "--before", "2024-03-31"),
            *("--mode", "quality", "--platform", "chatgpt", "--context", "Repairs at home"),
            *("--history", history, "--json"),
        )
    )
    assert [each["query"] for each in recalled["answers"]] == [
        "What does E47 mean?",
        "Which tomatoes?",
    ]
    assert len(recalled["sources"]) == 2

    outside = answer(run("recall", "tomatoes", "--before", "2023-12-31", "--json"))
    assert outside["sources"] == []
    assert "0 of 2" in outside["answers"][0]["summary"]


def test_recall_in_words_ends_with_links_to_the_sources(run: Run, tmp_path: Path) -> None:
    run("import", write_chatgpt_zip(tmp_path / "export.zip", [BOILER]))
    result = run("recall", "What does the error E47 mean?")
    assert "pressure sensor" in result.stdout
    assert "http://127.0.0.1:8787/c/" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "x", "--max-tokens", "2001"],
        ["recall", *["x"] * 16],
        ["recall", "x", "--mode", "fast"],
        ["search", ""],
    ],
)
def test_what_the_tool_refuses_the_command_refuses(run: Run, arguments: list[str]) -> None:
    result = run(*arguments, "--json")
    assert result.exit_code == 1
    assert answer(result)["error"]["code"] in {"limit_exceeded", "invalid_input"}


def test_an_account_is_added_with_a_given_or_a_made_password(run: Run) -> None:
    given = run("user", "add", "ada@example.org", "--owner", "--password-stdin", "--json",
                input="correct horse battery\n")  # fmt: skip
    assert answer(given)["role"] == "owner"
    assert "password" not in answer(given)

    made = run("user", "add", "boris@example.org", "--json")
    assert answer(made)["role"] == "member"
    assert len(answer(made)["password"]) >= 20

    again = run("user", "add", "ADA@example.org", "--json")
    assert again.exit_code == 1
    assert answer(again)["error"]["code"] == "conflict"


def test_a_forgotten_password_is_replaced(run: Run) -> None:
    run("user", "add", "ada@example.org", "--password-stdin", input="correct horse battery\n")
    made = answer(run("user", "set-password", "Ada@example.org", "--json"))
    assert made["email"] == "ada@example.org"
    assert len(made["password"]) >= 20

    nobody = run("user", "set-password", "nobody@example.org", "--json")
    assert nobody.exit_code == 1
    assert answer(nobody)["error"]["code"] == "not_found"


def test_the_index_is_built_anew_from_the_database(run: Run, tmp_path: Path) -> None:
    run("import", write_chatgpt_zip(tmp_path / "export.zip", [GARDEN, BOILER]))
    [account] = answer(run("reindex", "--json"))["accounts"]
    assert account["passages"] == 4
    assert answer(run("search", "Zuckertraube", "--json"))["hits"]

    (tmp_path / "oven.md").write_text("# Warranty\n\nThree years.\n")
    run("files", "add", tmp_path / "oven.md")
    [account] = answer(run("reindex", "--from-captures", "--json"))["accounts"]
    assert (account["passages"], account["files"]) == (4, 1)
    assert answer(run("search", "Zuckertraube", "--json"))["hits"]
    assert answer(run("files", "search", "warranty", "--json"))["passages"]


def test_a_whole_archive_verifies(run: Run, tmp_path: Path) -> None:
    run("import", write_chatgpt_zip(tmp_path / "export.zip", [GARDEN]))
    result = run("verify", "--json")
    assert result.exit_code == 0
    verified = answer(result)
    assert verified["is_whole"]
    [account] = verified["accounts"]
    assert (account["conversations"], account["messages"], account["problems"]) == (1, 2, [])


def test_what_is_not_whole_is_named_and_fails(run: Run, home: Path, tmp_path: Path) -> None:
    run("import", write_chatgpt_zip(tmp_path / "export.zip", [GARDEN]))
    store = Store(f"sqlite:///{home / 'backread.db'}")
    with store.write() as session:
        session.execute(delete(Message).where(Message.role == "assistant"))
    store.close()
    result = run("verify")
    assert "1 messages (hidden ones and tool calls included)" in result.stdout
    assert result.exit_code == 1
    assert "Everything is whole" not in result.stdout


def test_migrating_is_repeatable(run: Run) -> None:
    assert answer(run("migrate", "--json")) == {"migrated": True}
    assert run("migrate").exit_code == 0


def test_a_worker_without_a_broker_says_what_to_set(run: Run) -> None:
    result = run("worker")
    assert result.exit_code == 1
    assert "BACKREAD_BROKER_URL" in result.stderr


def test_people_are_invited_shut_out_let_in_and_removed(run: Run) -> None:
    nobody = run("user", "invite", "--json")
    assert answer(nobody)["error"]["code"] == "not_found"
    run("user", "add", "ada@example.org", "--owner", "--json")
    run("user", "add", "boris@example.org", "--json")

    invited = answer(run("user", "invite", "--name", "Carla", "--json"))
    assert "/join?token=bri_" in invited["link"]

    for command, state in (("disable", "disabled"), ("enable", "active")):
        assert run("user", command, "Boris@example.org", "--json").exit_code == 0
        listed = answer(run("user", "list", "--json"))["accounts"]
        assert {each["email"]: each["state"] for each in listed}["boris@example.org"] == state

    for role in ("owner", "member"):
        assert run("user", "set-role", "boris@example.org", role, "--json").exit_code == 0
        listed = answer(run("user", "list", "--json"))["accounts"]
        assert {each["email"]: each["role"] for each in listed}["boris@example.org"] == role
    unknown = run("user", "set-role", "boris@example.org", "king", "--json")
    assert (unknown.exit_code, answer(unknown)["error"]["code"]) == (1, "invalid_input")

    last = run("user", "disable", "ada@example.org", "--json")
    assert (last.exit_code, answer(last)["error"]["code"]) == (1, "conflict")

    unsure = run("user", "remove", "boris@example.org", "--json")
    assert (unsure.exit_code, answer(unsure)["error"]["code"]) == (1, "invalid_input")
    assert answer(run("user", "remove", "boris@example.org", "--yes", "--json"))
    removed = {
        each["email"]: each["state"] for each in answer(run("user", "list", "--json"))["accounts"]
    }
    assert removed["boris@example.org"] == "removed"


def test_lost_factors_are_taken_away(run: Run) -> None:
    run("user", "add", "ada@example.org", "--owner", "--json")
    assert answer(run("user", "reset-sign-in", "ada@example.org", "--json"))["state"] == "reset"
