"""Names and summaries by a language model, kept only as far as the memories bear them out."""

import json
from collections.abc import Iterator

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Category
from recall.categories.reading import bucket_categories
from recall.categories.updating import look_after_categories
from recall.memories import store_memory
from recall.summarising.planning import accept_estimate, summary_status
from tests.language_model_server import (
    Asked,
    LanguageModelServer,
    Say,
    Step,
    language_model_server,
)
from tests.recall.categories.lives import ALL
from tests.recall.categories.test_reading import keep, names
from tests.recall.chats import keep as keep_chats
from tests.recall.summarising.conftest import boat, kernel_of
from tests.recall.summarising.models import blocks_of


def telling(asked: Asked) -> Step:
    """A name, the first note word for word, and an invention."""
    blocks = blocks_of(asked)
    found = {
        "name": f"Things like {blocks[0].text.split()[1]}",
        "sentences": [
            {"text": blocks[0].text, "notes": [1]},
            {"text": "The user owns 14 castles in Portugal.", "notes": [1]},
            {"text": blocks[-1].text, "notes": [9999]},
        ],
    }
    return Say(json.dumps(found, ensure_ascii=False), usage=None)


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


def written_by(kernel: Kernel) -> set[str]:
    with kernel.store.read() as session:
        return {each.written_by for each in session.scalars(select(Category))}


def test_the_model_names_and_tells_and_what_it_invents_is_dropped(
    kernel: Kernel, principal: Principal
) -> None:
    bucket_id = keep(kernel, principal, ALL)
    run_pending(kernel)
    listed = bucket_categories(kernel, principal, bucket_id)
    groups = [each for each in listed.categories if each.kind == "group"]
    assert all(each.name.startswith("Things like ") for each in groups)
    assert "castles" not in listed.text
    for category in listed.categories:
        (sentence,) = category.sentences
        assert sentence.text in ALL
    assert written_by(kernel) == {"test-model"}


def test_whoever_asks_gets_an_answer_without_waiting_for_the_model(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    bucket_id = keep(kernel, principal, ALL)
    listed = bucket_categories(kernel, principal, bucket_id)
    assert listed.state == "ready"
    assert all(each.sentences for each in listed.categories)
    assert not server.asked
    run_pending(kernel)
    assert server.asked
    assert written_by(kernel) == {"test-model"}


def test_nothing_is_asked_while_an_estimate_waits_to_be_accepted(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    keep_chats(kernel, principal, boat(90), index=False)
    bucket_id = keep(kernel, principal, ALL)
    run_pending(kernel)
    assert not server.asked
    assert bucket_categories(kernel, principal, bucket_id).state == "ready"
    status = summary_status(kernel, principal)
    assert status is not None
    assert status.offer is not None
    accept_estimate(kernel, principal, status.offer.until)
    look_after_categories(kernel)
    run_pending(kernel)
    assert written_by(kernel) == {"test-model"}


def test_a_model_that_is_down_leaves_our_own_words_and_is_asked_again(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    server.answer = lambda asked: Say("not json at all", usage=None)
    bucket_id = keep(kernel, principal, ALL)
    run_pending(kernel)
    listed = bucket_categories(kernel, principal, bucket_id)
    assert all(each.sentences for each in listed.categories)
    assert written_by(kernel) == {""}
    server.answer = telling
    look_after_categories(kernel)
    run_pending(kernel)
    assert written_by(kernel) == {"test-model"}


def test_a_name_that_the_model_gave_stays_when_a_memory_joins(
    kernel: Kernel, principal: Principal
) -> None:
    bucket_id = keep(kernel, principal, ALL)
    run_pending(kernel)
    before = names(bucket_categories(kernel, principal, bucket_id))
    store_memory(kernel, principal, "I oil the cello pegs before the cello lesson.")
    run_pending(kernel)
    assert names(bucket_categories(kernel, principal, bucket_id)) == before
