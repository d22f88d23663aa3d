from backread.domain import Principal
from backread.kernel import Kernel
from recall.history import RecallRequest, recall_chat_history
from recall.search import SearchQuery, search
from tests.recall.chats import Chat, keep

HEATING = (
    "Which heating should I take for a 24 m² greenhouse, heat pump or propane?",
    "I would take an air-to-air model of 3.5 kW, because it is cheap to run.",
    "Thanks, that helped!",
)


def test_the_answer_to_a_question_that_was_found_is_recalled_with_it(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, Chat("Winter plans", HEATING))
    result = recall_chat_history(kernel, principal, RecallRequest(query="greenhouse heating"))
    assert "air-to-air model of 3.5 kW" in result.answers[0].summary


def test_a_short_message_under_a_matching_title_does_not_come_first(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, Chat("Greenhouse heating", HEATING))
    hits = search(kernel, principal, SearchQuery(text="greenhouse heating")).hits
    assert hits[0].text.startswith("Which heating")
    assert hits[-1].text == "Thanks, that helped!"


def test_the_head_of_a_table_is_no_statement(kernel: Kernel, principal: Principal) -> None:
    table = "| option | price |\n|---|---|\n| heat pump for the greenhouse | 900 euros |"
    keep(kernel, principal, Chat("Prices", ["Prices of heating?", table]))
    result = recall_chat_history(kernel, principal, RecallRequest(query="greenhouse heat pump"))
    assert "900 euros" in result.answers[0].summary
    assert "option · price" not in result.answers[0].summary
