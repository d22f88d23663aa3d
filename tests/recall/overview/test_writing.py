"""The portrait in prose, by a language model."""

import json
from collections.abc import Iterator

import pytest

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from recall.overview.reading import chat_history_overview
from recall.overview.updating import look_after_overviews
from tests.language_model_server import (
    Asked,
    LanguageModelServer,
    Say,
    Step,
    language_model_server,
)
from tests.recall.chats import keep
from tests.recall.overview.test_overview import forget, some_years
from tests.recall.summarising.conftest import kernel_of
from tests.recall.summarising.models import blocks_of


def telling(asked: Asked) -> Step:
    """The first finding in its own words, an invention, and something private."""
    first = blocks_of(asked)[0]
    found = [
        {"text": first.text, "findings": [1]},
        {"text": "The user is 52 years old and lives in Nagoya.", "findings": [1]},
        {"text": f"{first.text} The user has depression.", "findings": [1]},
        {"text": first.text, "findings": [999]},
    ]
    return Say(json.dumps({"sentences": found}, ensure_ascii=False), usage=None)


@pytest.fixture
def server() -> Iterator[LanguageModelServer]:
    with language_model_server() as server:
        server.answer = telling
        yield server


@pytest.fixture
def settings(settings: Settings, server: LanguageModelServer) -> Settings:
    """With a language model."""
    return settings.model_copy(update={"llm_model": "test-model", "llm_base_url": server.base_url})


@pytest.fixture
def kernel(settings: Settings) -> Iterator[Kernel]:
    kernel = kernel_of(settings)
    yield kernel
    kernel.close()


def test_it_is_written_in_the_background_and_what_is_invented_or_private_is_dropped(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, *some_years(), index=False)
    before = chat_history_overview(kernel, principal).portrait
    assert before.topics
    assert not before.sentences
    run_pending(kernel)
    after = chat_history_overview(kernel, principal).portrait
    assert after.written_by == "test-model"
    (sentence,) = after.sentences
    assert sentence.cited
    assert "Nagoya" not in sentence.text


def test_a_model_that_fails_leaves_the_rest_and_is_asked_again(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    server.answer = lambda asked: Say("no", usage=None)
    keep(kernel, principal, *some_years(), index=False)
    chat_history_overview(kernel, principal)
    run_pending(kernel)
    assert not chat_history_overview(kernel, principal).portrait.sentences
    server.answer = telling
    look_after_overviews(kernel)
    run_pending(kernel)
    assert chat_history_overview(kernel, principal).portrait.sentences


def test_prose_about_what_is_deleted_goes_with_it(kernel: Kernel, principal: Principal) -> None:
    ids = keep(kernel, principal, *some_years(), index=False)
    chat_history_overview(kernel, principal)
    run_pending(kernel)
    assert chat_history_overview(kernel, principal).portrait.sentences
    forget(kernel, principal, ids[:1])
    assert not chat_history_overview(kernel, principal).portrait.sentences
