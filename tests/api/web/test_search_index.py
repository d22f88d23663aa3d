"""The page on which an owner changes the embedding model."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account
from ingest import tasks
from tests.api.accounts.forms import send
from tests.api.archive import Importer
from tests.api.conftest import sign_in
from tests.api.exports import dialogue
from tests.api.web.pages import text_of
from tests.contract.embeddings_endpoint import EmbeddingsEndpoint, embeddings_endpoint
from tests.exports import GARDEN

__all__ = ["tasks"]  # importing the module registers the jobs

PAGE = "/settings/search-index"
OTHER = "openai:other"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[EmbeddingsEndpoint]:
    with embeddings_endpoint() as opened:
        yield opened


@pytest.fixture
def settings(settings: Settings, endpoint: EmbeddingsEndpoint) -> Settings:
    return settings.model_copy(update={"embedding_base_url": endpoint.base_url})


def change(browser: TestClient, model: str) -> str:
    answer = send(browser, PAGE, f"{PAGE}/switch", model="other", other=model)
    return text_of(answer.text) if answer.status_code != 303 else shown(browser)


def shown(browser: TestClient) -> str:
    return text_of(browser.get(PAGE).text)


def test_an_owner_changes_the_model_and_goes_back(
    signed_in: TestClient, kernel: Kernel, bring_in: Importer
) -> None:
    bring_in(dialogue(*GARDEN))
    run_pending(kernel)
    assert "can be found by meaning" in shown(signed_in)

    page = change(signed_in, OTHER)

    assert "hashing answers questions until the new one is ready" in page
    assert f"{OTHER} 0 of" in page
    run_pending(kernel)
    assert "You can go back to hashing at once until" in shown(signed_in)
    assert kernel.embedder.signature == OTHER
    assert "balcony" in search_page(signed_in)
    send(signed_in, PAGE, f"{PAGE}/roll-back")
    assert kernel.embedder.signature == "hashing-v1-384"
    send(signed_in, PAGE, f"{PAGE}/keep")
    assert "You can go back" not in shown(signed_in)


def search_page(browser: TestClient) -> str:
    return text_of(browser.get("/search?q=tomatoes").text)


def test_a_change_can_be_stopped(signed_in: TestClient, bring_in: Importer) -> None:
    bring_in(dialogue(*GARDEN))
    change(signed_in, OTHER)

    send(signed_in, PAGE, f"{PAGE}/stop")

    assert "answers questions until" not in shown(signed_in)


def test_a_model_that_there_is_not_is_refused_with_what_to_do(signed_in: TestClient) -> None:
    page = change(signed_in, "no-such-model")

    assert "There is no embedding model 'no-such-model'." in page
    assert "BACKREAD_EMBEDDING_MODEL takes" in page


def test_a_model_that_fails_is_told_with_the_reason(
    signed_in: TestClient, kernel: Kernel, bring_in: Importer, endpoint: EmbeddingsEndpoint
) -> None:
    bring_in(dialogue(*GARDEN))
    run_pending(kernel)
    well = endpoint.answer
    endpoint.answer = lambda _asked: (401, {"error": {"message": "wrong key"}})

    change(signed_in, OTHER)
    run_pending(kernel)

    endpoint.answer = well
    page = shown(signed_in)
    assert f"The change to {OTHER} was given up. Search is as it was." in page
    assert "status 401" in page
    assert kernel.embedder.signature == "hashing-v1-384"


def test_only_owners_see_the_page_and_change_anything(browser: TestClient, kernel: Kernel) -> None:
    with kernel.store.write() as session:
        member = Account(email="boris@example.org", password_hash="unused", role="member")
        session.add(member)
    sign_in(browser, kernel, member)

    assert browser.get(PAGE).status_code == 403
    for action in ("switch", "stop", "roll-back", "keep"):
        refused = send(browser, "/settings", f"{PAGE}/{action}", model="hashing")
        assert refused.status_code == 403
    assert "Search index" not in text_of(browser.get("/settings").text)
