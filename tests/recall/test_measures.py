"""Questions of measure, asked through recall: answered by a number with its unit, or not at all."""

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from recall.history import RecallAnswer, RecallRequest, recall_chat_history
from tests.recall.chats import CODE, GARDEN, TRAVEL, Chat, keep

SHRUNK = "Worked, it went from 14 GB to 3 GB."
REBUILD = [
    "The index on events is huge. How do I rebuild it without a lock?",
    "Use REINDEX CONCURRENTLY. It makes a new one beside the old.",
]


def ask(kernel: Kernel, principal: Principal, query: str) -> RecallAnswer:
    request = RecallRequest.model_validate({"query": query})
    return recall_chat_history(kernel, principal, request).answers[0]


def test_a_size_is_found_in_the_message_after_the_one_that_names_the_thing(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, Chat("Events table", [*REBUILD, SHRUNK]), GARDEN, TRAVEL, CODE)
    answer = ask(kernel, principal, "How big was the index before and after the rebuild?")
    assert answer.found
    assert SHRUNK in [each.text for each in answer.statements]


@pytest.mark.parametrize(
    "said",
    ["Worked, thank you.", "Worked, and it took 14 minutes.", "Worked, for 14 of the 3 tables."],
)
def test_what_was_said_of_the_thing_without_its_size_is_not_found(
    kernel: Kernel, principal: Principal, said: str
) -> None:
    keep(kernel, principal, Chat("Events table", [*REBUILD, said]), GARDEN, TRAVEL, CODE)
    answer = ask(kernel, principal, "How big was the index before and after the rebuild?")
    assert not answer.found
    assert answer.statements == []


def test_the_size_of_something_else_is_not_found(kernel: Kernel, principal: Principal) -> None:
    keep(kernel, principal, Chat("Events table", [*REBUILD, SHRUNK]), GARDEN, TRAVEL, CODE)
    assert not ask(kernel, principal, "How big was the attic before the renovation?").found
