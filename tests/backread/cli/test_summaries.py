import json
from collections.abc import Iterator

import pytest

from backread.cli.context import find_principal, open_kernel
from backread.jobs import run_pending
from backread.settings import Settings
from recall.summarising import making
from tests.backread.cli.conftest import Run, answer
from tests.language_model_server import LanguageModelServer, language_model_server
from tests.recall.chats import keep
from tests.recall.summarising.conftest import boat
from tests.recall.summarising.models import sensible


@pytest.fixture
def server(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> Iterator[LanguageModelServer]:
    with language_model_server() as server:
        server.answer = sensible
        monkeypatch.setenv("BACKREAD_LLM_MODEL", "gpt-4o-mini")
        monkeypatch.setenv("BACKREAD_LLM_BASE_URL", server.base_url)
        yield server


def test_without_a_model_the_commands_say_how_to_get_one(run: Run) -> None:
    result = run("summaries", "accept")
    assert result.exit_code == 1
    assert "docs/guides/language-models.md" in result.stderr


def test_that_there_is_no_model_is_a_status_and_no_error(run: Run) -> None:
    result = run("summaries", "status")
    assert result.exit_code == 0
    assert "No language model is set up. Summaries are made of" in result.stdout
    shown = run("summaries", "status", "--json")
    assert shown.exit_code == 0
    assert answer(shown)["model"] is None


def test_estimate_accept_status_and_pause(run: Run, server: LanguageModelServer) -> None:
    assert run("user", "add", "ada@example.org", "--owner").exit_code == 0
    with open_kernel(Settings()) as kernel:
        keep(kernel, find_principal(kernel, ""), boat(), index=False)
    shown = run("summaries", "estimate")
    assert "1 conversation" in shown.stdout
    assert "USD" in shown.stdout
    offer = answer(run("summaries", "estimate", "--json"))["offer"]
    assert offer["conversations"] == 1
    too_dear = run("summaries", "accept", "--yes", "--most-cost", "0.000001")
    assert too_dear.exit_code == 1
    assert run("summaries", "accept", input="n\n").exit_code == 1
    assert server.calls == 0
    taken = answer(run("summaries", "accept", "--yes", "--json"))["accepted"]
    assert taken["tokens_in"] == offer["tokens_in"]
    assert run("summaries", "pause").exit_code == 0
    assert "Paused" in run("summaries", "status").stdout
    assert run("summaries", "resume").exit_code == 0
    with open_kernel(Settings()) as kernel:
        run_pending(kernel, names=[making.SUMMARISE])
    status = answer(run("summaries", "status", "--json"))
    assert (status["made"], status["offer"], status["accepted"]) == (1, None, None)
    assert "1 summary by gpt-4o-mini" in run("summaries", "status").stdout
    nothing = json.loads(run("summaries", "accept", "--yes", "--json").stdout)
    assert nothing["error"]["code"] == "invalid_input"
