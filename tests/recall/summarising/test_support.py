"""What is kept of a model's sentences, and what is not."""

from collections.abc import Sequence

import numpy as np
import pytest

from backread.llm.embedding import Vectors
from backread.llm.hashing import HashingEmbedder
from benchmarks.summaries.data import read_chats
from recall.summarising.support import Evidence, check, most_alike

BAKERY = Evidence(
    "All right, I decided to take Quay Street and sign on 12 May. The landlord wants 1,750 a "
    "month. Delivery is too much for the two of us, we will not do it.",
    "3 March 2024",
)
OVENS = Evidence("An engineer quoted 6,200 euros for moving both deck ovens.", "3 March 2024")


@pytest.mark.parametrize(
    "sentence",
    [
        "The user decided to take Quay Street and to sign on 12 May.",
        "The landlord wants 1750 a month.",
        "An engineer quoted 6,200 euros for moving both deck ovens.",
        "On 3 March the user decided to take Quay Street.",
        "The user will not do delivery, which is too much for the two of them.",
    ],
)
def test_what_the_messages_say_is_kept(sentence: str) -> None:
    assert check(sentence, [BAKERY, OVENS], language="en").is_supported


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("The user decided to take Quay Street and sign on 14 May.", "number"),
        ("The landlord wants 2,750 a month.", "number"),
        ("The user decided to take Harbour Street and sign in May.", "name"),
        ("The landlord Smithers wants more a month.", "name"),
        ("The user collects rare stamps and old maps from abroad.", "words"),
        ("The user did not decide to take Quay Street.", "negation"),
        ("Delivery is done by the two of us, we will do it.", "negation"),
        ("", "empty"),
    ],
)
def test_what_they_do_not_say_is_dropped_for_a_named_reason(sentence: str, why: str) -> None:
    verdict = check(sentence, [BAKERY, OVENS], language="en")
    assert not verdict.is_supported
    assert verdict.why.startswith(why)


def test_only_messages_that_hold_a_sentence_up_stay_cited() -> None:
    other = Evidence("The weather was grey and the ferry was late again.", "4 March 2024")
    verdict = check("The landlord wants 1,750 a month.", [other, BAKERY, OVENS], language="en")
    assert verdict.cited == (1,)


def test_a_near_meaning_stands_in_for_missing_words() -> None:
    said = Evidence("We will move the bakery to the harbour street in spring.")
    sentence = "Moving the bakery toward the harbour streets happens next springtime."
    assert not check(sentence, [said], language="en").is_supported

    def near(texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 1), dtype=np.float32)

    assert check(sentence, [said], language="en", embed=near).is_supported
    far = HashingEmbedder().embed_passages
    assert not check(sentence, [said], language="en", embed=far).is_supported


def test_what_quotes_a_message_always_passes_in_every_language() -> None:
    for chat in read_chats():
        for turn in chat.turns:
            assert check(turn.text, [Evidence(turn.text)]).is_supported, turn.text


def test_the_message_that_a_sentence_is_most_like() -> None:
    assert most_alike("The ovens cost 6,200 euros to move", [BAKERY.text, OVENS.text]) == 1
    assert most_alike("zebra", [BAKERY.text, OVENS.text]) == -1
