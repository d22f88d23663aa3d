from collections.abc import Sequence

import numpy as np
import pytest

from backread.llm import remembering
from backread.llm.embedding import Vectors
from backread.llm.hashing import HashingEmbedder
from backread.llm.remembering import RememberingEmbedder


class Counting(HashingEmbedder):
    """Keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.given.extend(texts)
        return super().embed_passages(texts)


def test_a_text_is_embedded_once_in_a_call_and_across_calls() -> None:
    inner = Counting()
    embedder = RememberingEmbedder(inner)

    rows = embedder.embed_passages(["tea", "bread", "tea"])
    again = embedder.embed_passages(["bread", "milk"])

    assert inner.given == ["tea", "bread", "milk"]
    np.testing.assert_array_equal(rows, HashingEmbedder().embed_passages(["tea", "bread", "tea"]))
    np.testing.assert_array_equal(again, HashingEmbedder().embed_passages(["bread", "milk"]))


def test_a_question_and_a_passage_of_the_same_words_are_two_things() -> None:
    inner = Counting()
    embedder = RememberingEmbedder(inner)

    embedder.embed_passages(["tea"])
    embedder.embed_queries(["tea"])

    assert inner.given == ["tea", "tea"]


def test_what_was_not_met_for_long_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembering, "_PASSAGES", 2)
    inner = Counting()
    embedder = RememberingEmbedder(inner)

    for text in ("a", "b", "a", "c", "a", "b"):
        embedder.embed_passages([text])

    assert inner.given == ["a", "b", "c", "b"]


def test_changing_a_row_that_was_given_out_changes_no_later_one() -> None:
    embedder = RememberingEmbedder(Counting())
    rows = embedder.embed_passages(["tea"])
    rows *= 0

    assert np.linalg.norm(embedder.embed_passages(["tea"])) == pytest.approx(1)
