import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from backread.cli.app import app

Run = Callable[..., Result]


@pytest.fixture
def environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Settings of commands: a fresh data folder and the embedder that needs no model."""
    values = {"BACKREAD_HOME": str(home), "BACKREAD_EMBEDDING_MODEL": "hashing"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return values


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Runs a command in this process."""

    def invoke(*arguments: str | Path, **options: Any) -> Result:
        return CliRunner().invoke(app, [str(each) for each in arguments], **options)

    return invoke


def answer(result: Result) -> Any:
    """The object that a command with `--json` printed, and nothing else beside it."""
    assert result.stdout.count("\n") == 1, result.output
    return json.loads(result.stdout)


def start_command(environment: dict[str, str], *arguments: str | Path) -> "subprocess.Popen[str]":
    """Starts a command as a process of its own, as a person would."""
    return subprocess.Popen(
        [sys.executable, "-m", "backread", *map(str, arguments)],
        env=environment | {"PYTHONPATH": "."},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
