"""recall_chat_history with a language model: its sentences, their sources, and doing without."""

import json

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from recall.history import RecallRequest, RecallResult, recall_chat_history
from tests.language_model_server import Fail, LanguageModelServer, Say
from tests.recall.chats import GARDEN, TRAVEL, keep

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
WOOD = "Which wood did we decide on for the raised beds?"


def says(server: LanguageModelServer, *said: tuple[str, list[int]]) -> None:
    found = [{"text": text, "passages": numbers} for text, numbers in said]
    server.answer = lambda asked: Say(json.dumps({"sentences": found}))


def recall(kernel: Kernel, principal: Principal, *queries: str) -> RecallResult:
    asked = [{"query": query} for query in queries]
    return recall_chat_history(kernel, principal, RecallRequest.model_validate({"queries": asked}))


def test_the_models_sentences_are_cited_and_marked(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    garden, _ = keep(kernel, principal, GARDEN, TRAVEL)
    says(
        server,
        ("The user decided on cedar; the soil comes from Hollis Nursery.", []),
        ("Cedar costs 99 francs.", []),
    )
    result = recall(kernel, principal, WOOD)
    answer = result.answers[0]
    assert answer.found
    assert answer.summary == "- The user decided on cedar; the soil comes from Hollis Nursery. [1]"
    assert [each.in_own_words for each in answer.statements] == [False]
    assert result.sources[0].conversation_id == garden
    assert answer.statements[0].message_id in result.sources[0].message_ids


def test_a_model_that_fails_leaves_what_was_said(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, principal, GARDEN, TRAVEL)
    server.answer = lambda asked: Fail(400)
    answer = recall(kernel, principal, WOOD).answers[0]
    assert answer.found
    assert all(each.in_own_words for each in answer.statements)
    assert "cedar" in answer.summary


def test_a_model_that_finds_no_answer_makes_it_not_found(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, principal, GARDEN, TRAVEL)
    says(server)
    result = recall(kernel, principal, WOOD, "Which night train to Vienna takes bicycles?")
    assert [each.found for each in result.answers] == [False, False]
    assert result.answers[0].summary.startswith("Not found")
    assert result.sources == []


def test_what_is_not_found_asks_no_model(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, principal, GARDEN)
    asked_before = len(server.asked)
    assert not recall(kernel, principal, "zebra crossing paperwork").answers[0].found
    assert len(server.asked) == asked_before
