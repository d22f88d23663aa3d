"""What an answer quotes beside its best statements, when there is room for it."""

from datetime import timedelta
from typing import Any

from backread.domain import Principal
from backread.kernel import Kernel
from recall.history import RecallAnswer, RecallRequest, recall_chat_history
from tests.recall.chats import CODE, GARDEN, NOON, TRAVEL, Chat, keep

PURCHASE = "I bought the Shimano Alfine 8 with a belt in the end."
BICYCLE = Chat(
    "Bike gears",
    [
        "Hub gear or derailleur for a city bike?",
        "A hub gear with a belt needs the least care.",
        PURCHASE,
    ],
)


def ask(kernel: Kernel, principal: Principal, query: str, **more: Any) -> RecallAnswer:
    request = RecallRequest.model_validate({"query": query, **more})
    return recall_chat_history(kernel, principal, request).answers[0]


def said(answer: RecallAnswer) -> list[str]:
    return [each.text for each in answer.statements]


def test_what_the_person_made_of_the_advice_is_quoted_with_it(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, BICYCLE, GARDEN, TRAVEL, CODE)
    answer = ask(kernel, principal, "Hub gear or derailleur for the city bike?", maxTokens=600)
    assert PURCHASE in said(answer)
    assert PURCHASE in answer.summary
    assert len(said(answer)) == len(set(said(answer)))


def test_nothing_is_quoted_from_chats_that_hold_no_answer(
    kernel: Kernel, principal: Principal
) -> None:
    bicycle, *_ = keep(kernel, principal, BICYCLE, GARDEN, TRAVEL, CODE)
    answer = ask(kernel, principal, "Hub gear or derailleur for the city bike?", maxTokens=2000)
    assert {each.conversation_id for each in answer.statements} == {bicycle}


def test_what_stands_beside_goes_first_when_the_budget_is_small(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, BICYCLE, GARDEN, TRAVEL, CODE)
    answer = ask(kernel, principal, "Hub gear or derailleur for the city bike?", maxTokens=50)
    assert said(answer) == ["A hub gear with a belt needs the least care."]


def test_what_was_said_later_than_the_question_is_not_quoted_beside_the_answer(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, BICYCLE, GARDEN, TRAVEL, CODE)
    asked_at = (NOON + timedelta(minutes=1, seconds=30)).isoformat()
    answer = ask(kernel, principal, "Hub gear or derailleur for the city bike?", askedAt=asked_at)
    assert "A hub gear with a belt needs the least care." in said(answer)
    assert PURCHASE not in said(answer)
