"""What every embedder must do, whatever model is behind it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from backread.llm.embedding import Embedder
from backread.llm.hashing import HashingEmbedder
from backread.llm.open import open_embedder
from backread.settings import Settings
from tests.contract.embeddings_endpoint import embeddings_endpoint

TEXTS = [
    "We moved to Lisbon in March and found a flat near the river.",
    "Bread needs flour, water, salt and time.",
    "里斯本的房子很漂亮",
    "",
    "   ",
    "A longer text. " * 200,
    "\ud83d half an emoji",
]


@pytest.fixture(scope="module", params=["hashing", "minilm", "multilingual-e5", "openai:fake"])
def embedder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Embedder]:
    home = tmp_path_factory.mktemp("home")
    if request.param != "openai:fake":
        yield open_embedder(Settings(home=home, embedding_model=request.param))
        return
    with embeddings_endpoint() as endpoint:
        yield open_embedder(
            Settings(home=home, embedding_model=request.param, embedding_base_url=endpoint.base_url)
        )


def test_each_text_gets_a_row_of_length_one(embedder: Embedder) -> None:
    for rows in (embedder.embed_passages(TEXTS), embedder.embed_queries(TEXTS)):
        assert rows.shape == (len(TEXTS), embedder.dimensions)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_rows_are_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = [f"number {n} " + "and so on " * (n % 7) for n in range(70)]

    together = embedder.embed_passages(texts)

    alone = np.concatenate([embedder.embed_passages([text]) for text in texts[::10]])
    assert np.all(np.sum(together[::10] * alone, axis=1) > 0.98)


def test_a_question_is_nearer_to_its_answer_than_to_something_else(embedder: Embedder) -> None:
    answer, other = embedder.embed_passages(TEXTS[:2])
    (question,) = embedder.embed_queries(["in which month did we find the flat in Lisbon"])

    assert question @ answer > question @ other + 0.1


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)


def test_the_same_call_gives_the_same_vectors(embedder: Embedder) -> None:
    np.testing.assert_array_equal(embedder.embed_passages(TEXTS), embedder.embed_passages(TEXTS))


def test_threads_may_share_it(embedder: Embedder) -> None:
    expected = embedder.embed_queries(TEXTS[:1])

    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda _: embedder.embed_queries(TEXTS[:1]), range(8)))

    for row in rows:
        np.testing.assert_array_equal(row, expected)


def test_the_signature_stays_and_fits_its_column(embedder: Embedder) -> None:
    assert embedder.signature == embedder.signature
    assert 0 < len(embedder.signature) <= 60


def test_models_have_different_signatures(tmp_path: Path) -> None:
    names = [
        "hashing",
        "minilm",
        "multilingual-e5",
        "openai:one",
        "openai:two",
        "BAAI/bge-small-en-v1.5",
    ]
    signatures = {
        open_embedder(Settings(home=tmp_path, embedding_model=name)).signature for name in names
    }

    assert len(signatures) == len(names)


def test_hashing_gives_the_same_bits_everywhere() -> None:
    (row,) = HashingEmbedder().embed_passages(["Zürich tea"])

    assert np.flatnonzero(row).tolist() == HASHED_PLACES


HASHED_PLACES = [18, 24, 79, 161, 170, 196, 197, 286, 359, 370]
