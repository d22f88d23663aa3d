from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from backread.errors import Unavailable
from backread.llm.openai_compatible import OpenAICompatibleEmbedder
from tests.contract.embeddings_endpoint import (
    EmbeddingsEndpoint,
    embeddings_endpoint,
    vectors_answer,
    well_behaved,
)


@pytest.fixture
def endpoint() -> Iterator[EmbeddingsEndpoint]:
    with embeddings_endpoint() as opened:
        yield opened


def connect(endpoint: EmbeddingsEndpoint, model: str = "some-model") -> OpenAICompatibleEmbedder:
    return OpenAICompatibleEmbedder(model, base_url=endpoint.base_url, api_key="secret")


def test_many_texts_are_sent_in_batches_with_model_and_key(endpoint: EmbeddingsEndpoint) -> None:
    rows = connect(endpoint).embed_passages([f"text {n}" for n in range(150)])

    assert len(rows) == 150
    assert [len(asked["input"]) for asked in endpoint.asked] == [64, 64, 22]
    assert {asked["model"] for asked in endpoint.asked} == {"some-model"}
    assert set(endpoint.keys) == {"Bearer secret"}


def test_an_empty_text_is_not_sent_empty(endpoint: EmbeddingsEndpoint) -> None:
    connect(endpoint).embed_passages(["", " \n"])

    assert all(text.strip() for text in endpoint.asked[0]["input"])


def test_models_that_want_prefixes_get_them(endpoint: EmbeddingsEndpoint) -> None:
    embedder = connect(endpoint, "intfloat/multilingual-e5-small")

    embedder.embed_queries(["tea"])
    embedder.embed_passages(["tea"])

    assert [asked["input"] for asked in endpoint.asked] == [["query: tea"], ["passage: tea"]]


def test_the_dimensions_are_what_the_endpoint_answers_with(endpoint: EmbeddingsEndpoint) -> None:
    assert connect(endpoint).dimensions == 384


def vectors(*rows: list[Any]) -> dict[str, Any]:
    return vectors_answer(
        [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    )


@pytest.mark.parametrize(
    "answer",
    [
        vectors(),
        vectors([1.0, 2.0]),
        vectors([1.0] * 384, [1.0] * 384),
        vectors([float("nan")] * 384),
        vectors([0.0] * 384),
        vectors([]),
    ],
    ids=["none", "other length", "too many", "not numbers", "zero", "empty"],
)
def test_an_unusable_answer_is_refused(
    endpoint: EmbeddingsEndpoint, answer: dict[str, Any]
) -> None:
    embedder = connect(endpoint)
    assert embedder.dimensions == 384
    endpoint.answer = lambda _asked: (200, answer)

    with pytest.raises(Unavailable, match="cannot be used"):
        embedder.embed_queries(["tea"])


def test_a_wrong_key_is_said_in_words(endpoint: EmbeddingsEndpoint) -> None:
    endpoint.answer = lambda _asked: (401, {"error": {"message": "bad key"}})

    with pytest.raises(Unavailable, match="401") as refused:
        connect(endpoint).embed_queries(["tea"])

    assert "BACKREAD_EMBEDDING_API_KEY" in refused.value.hint


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_text_that_is_too_long_for_the_endpoint_is_shortened_and_holds_up_no_other(
    endpoint: EmbeddingsEndpoint, status: int
) -> None:
    def of_few_characters(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        is_too_long = any(len(text) > 1_000 for text in asked["input"])
        return (status, {"error": {"message": "too long"}}) if is_too_long else well_behaved(asked)

    endpoint.answer = of_few_characters
    texts = [f"text {number}" for number in range(8)]
    alone = connect(endpoint).embed_passages(texts)
    texts[5] += " and more" * 500
    together = connect(endpoint).embed_passages(texts)
    assert [n for n in range(8) if not np.array_equal(alone[n], together[n])] == [5]


def test_an_endpoint_that_takes_nothing_is_given_up_soon(endpoint: EmbeddingsEndpoint) -> None:
    endpoint.answer = lambda _asked: (400, {"error": {"message": "no such model"}})
    with pytest.raises(Unavailable, match="no such model"):
        connect(endpoint).embed_passages(["tea " * 1_000] * 64)
    assert len(endpoint.asked) < 16


def test_a_hiccup_is_tried_again(endpoint: EmbeddingsEndpoint) -> None:
    def once_broken(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return (500, {}) if len(endpoint.asked) == 1 else well_behaved(asked)

    endpoint.answer = once_broken

    assert connect(endpoint).embed_queries(["tea"]).shape == (1, 384)


def test_an_endpoint_that_is_not_there_is_unavailable() -> None:
    with embeddings_endpoint() as endpoint:
        pass

    with pytest.raises(Unavailable, match="cannot be reached"):
        connect(endpoint).embed_queries(["tea"])
