"""Which sentences say most: the same way in every language, inside any budget."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backread.text import extracting
from backread.text.extracting import choose_sentences
from backread.tokens import estimate_tokens

TALK = [
    "Good morning, I hope that you are well.",
    "We are looking for a new flat in Lisbon for the whole family.",
    "The flat in Lisbon should have three rooms and a balcony.",
    "A balcony in Lisbon is pleasant in the evening.",
    "My neighbour plays the trumpet on Sundays.",
    "What does a flat with three rooms in Lisbon cost?",
    "We decided on the flat in Graça for 1,450 euros from 1 June.",
    "We decided on the flat in Graça for 1,450 euros, from 1 June on.",
]


def chosen(sentences: list[str], budget: int, **options: object) -> list[str]:
    found = choose_sentences(sentences, budget_tokens=budget, **options)  # type: ignore[arg-type]
    return [sentences[n] for n in found]


def test_decisions_come_first_and_nothing_is_said_twice() -> None:
    found = chosen(TALK, 30)
    assert len(found) == 1
    assert found[0].startswith("We decided")
    more = chosen(TALK, 80)
    assert sum(each.startswith("We decided") for each in more) == 1
    assert TALK[4] not in more
    assert TALK[5] not in more


@pytest.mark.parametrize(
    ("decision", "talk"),
    [
        (
            "我们决定四月十日开始种番茄和生菜。",
            ["番茄和生菜喜欢阳光和水。", "生菜和番茄可以一起种。", "今天天气很好啊朋友。"],
        ),
        (
            "Wir haben beschlossen, das Gewächshaus am 4. September zu bauen.",
            [
                "Ein Gewächshaus braucht ein Fundament im Garten.",
                "Das Gewächshaus steht am besten im Süden.",
                "Mein Nachbar spielt sonntags immer Trompete.",
            ],
        ),
        (
            "Решили взять кухню за 210 тысяч рублей.",
            [
                "Новая кухня стоит много тысяч рублей.",
                "Кухня должна быть светлой и большой.",
                "Сосед играет на трубе каждое воскресенье.",
            ],
        ),
    ],
)
def test_decisions_are_found_in_other_languages(decision: str, talk: list[str]) -> None:
    budget = 2 * (estimate_tokens(decision) + extracting.SENTENCE_OVERHEAD_TOKENS)
    assert decision in chosen([*talk, decision], budget)
    assert talk[-1] not in chosen([*talk, decision], budget)


def test_vectors_tell_what_words_do_not() -> None:
    sentences = [
        "The physician prescribed tablets against pain.",
        "A doctor gave me pills because it hurts.",
        "Rain falls on the roof of the shed tonight.",
    ]
    vectors = np.asarray([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    by_words = extracting.weigh(sentences).alike
    by_meaning = extracting.weigh(sentences, vectors).alike
    assert by_meaning[0, 1] > by_words[0, 1]
    assert by_meaning[0, 2] <= by_words[0, 2]
    assert chosen(sentences, 200, vectors=vectors)


def test_weights_can_leave_a_sentence_out() -> None:
    found = chosen(TALK, 400, weights=[0.0 if "decided" in each else 1.0 for each in TALK])
    assert found
    assert not any("decided" in each for each in found)


def test_of_very_many_sentences_the_recurring_words_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extracting, "MOST_SENTENCES", 20)
    noise = [f"Noise{n} murmurs{n} about{n} things{n} unknown{n}." for n in range(200)]
    found = chosen([*noise[:100], *TALK, *noise[100:]], 120)
    assert any(each.startswith("We decided") for each in found)


@given(st.lists(st.text(max_size=80), max_size=12), st.integers(0, 200))
def test_any_text_gives_sentences_in_order_inside_the_budget(texts: list[str], budget: int) -> None:
    found = choose_sentences(texts, budget_tokens=budget)
    assert found == sorted(set(found))
    assert sum(estimate_tokens(texts[n]) + 12 for n in found) <= budget
    assert found == choose_sentences(texts, budget_tokens=budget)


def test_nothing_gives_nothing() -> None:
    assert choose_sentences([], budget_tokens=100) == []
    assert choose_sentences(["", "  "], budget_tokens=100) == []
    assert choose_sentences(TALK, budget_tokens=0) == []
    weighed = extracting.weigh(["One sentence about a boat on the sea."])
    assert np.isfinite(weighed.worth).all()
