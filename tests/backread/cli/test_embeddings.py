from pathlib import Path

import pytest

from tests.backread.cli.conftest import Run, answer
from tests.contract.embeddings_endpoint import embeddings_endpoint
from tests.exports import BOILER, GARDEN, write_chatgpt_zip


def test_the_model_is_changed_rolled_back_and_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("import", write_chatgpt_zip(tmp_path / "export.zip", [GARDEN, BOILER]), "--wait")
    before = answer(run("embeddings", "status", "--json"))
    assert (before["serving"], before["former"]) == ("hashing", "")
    assert before["done"] == before["total"] > 0
    with embeddings_endpoint() as endpoint:
        monkeypatch.setenv("BACKREAD_EMBEDDING_BASE_URL", endpoint.base_url)
        changed = run("embeddings", "switch", "openai:other")
        assert changed.exit_code == 0, changed.output
        assert "Questions are answered with openai:other" in changed.stdout
        assert "hashing is kept until" in changed.stdout
        assert answer(run("search", "tomatoes", "--json"))["hits"]
    back = answer(run("embeddings", "roll-back", "--json"))
    assert (back["serving"], back["former"]) == ("hashing", "openai:other")
    kept = answer(run("embeddings", "keep", "--json"))
    assert (kept["serving"], kept["former"]) == ("hashing", "")
    assert kept["done"] == kept["total"]


def test_a_change_that_fails_says_why_and_ends_with_1(run: Run) -> None:
    with embeddings_endpoint() as endpoint:
        endpoint.answer = lambda _asked: (401, {"error": {"message": "wrong key"}})
        options = {"env": {"BACKREAD_EMBEDDING_BASE_URL": endpoint.base_url}}
        failed = run("embeddings", "switch", "openai:other", **options)
    assert failed.exit_code == 1
    assert "was given up" in failed.stdout
    assert "401" in failed.stdout
    stopped = answer(run("embeddings", "stop", "--json"))
    assert (stopped["serving"], stopped["next"]) == ("hashing", "")
    assert run("embeddings", "switch", "no-such-model").exit_code == 1
