"""Which questions let time decide between equal answers."""

import pytest

from recall.dates.recency import asks_for_recent


@pytest.mark.parametrize(
    "text",
    [
        "What was the latest plan for the shed?",
        "the last time we talked about larch",
        "Was ist der aktuelle Stand beim Dach?",
        "Quelle était la dernière fois ?",
        "最近我们聊了什么?",
        "I'm back from the shed. The larch has arrived and we stacked it in the yard. "
        "What should we do about the roof now that my brother can help?",
    ],
)
def test_words_of_recency_and_messages_that_go_on_do(text: str) -> None:
    assert asks_for_recent(text)


@pytest.mark.parametrize(
    "text", ["What did we decide about the roof?", "Which wood lasts?", "the last plank"]
)
def test_plain_questions_do_not(text: str) -> None:
    assert not asks_for_recent(text)
