"""Summaries in a conversation's own sentences."""

from collections.abc import Sequence

import numpy as np

from backread.domain import Role
from backread.errors import Unavailable
from backread.llm.embedding import Vectors
from benchmarks.summaries.data import Turn
from recall.summarising import extractive
from recall.summarising.extractive import pick

TALK = [
    Turn(Role.USER, "We look for a flat in Lisbon with three rooms."),
    Turn(Role.ASSISTANT, "A flat in Lisbon with three rooms costs about 1,500 euros a month."),
    Turn(Role.USER, "We decided on the flat in Lisbon, from 1 June."),
]


def test_each_sentence_keeps_its_message() -> None:
    picked = pick(TALK, 400)
    assert [each.message for each in picked] == TALK
    assert all(each.text in each.message.text for each in picked)
    assert [each.message for each in pick(TALK, 40)] == [TALK[2]]


def test_only_the_best_sentences_by_words_are_compared_by_meaning() -> None:
    asked: list[int] = []

    def embed(texts: Sequence[str]) -> Vectors:
        asked.append(len(texts))
        return np.eye(len(texts), 400, dtype=np.float32)

    many = [Turn(Role.USER, f"The boat needs coat {n} of varnish in week {n}.") for n in range(300)]
    assert pick(many, 200, embed=embed)
    assert asked == [extractive.COMPARED_BY_MEANING]


def test_without_the_embedding_model_words_alone_decide() -> None:
    def gone(texts: Sequence[str]) -> Vectors:
        raise Unavailable("The model cannot be had.")

    assert pick(TALK, 400, embed=gone) == pick(TALK, 400)
    assert pick([], 400, embed=gone) == []
