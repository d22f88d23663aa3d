import numpy as np
import pytest

from backread.kernel import Kernel
from backread.llm.hashing import HashingEmbedder
from backread.llm.open import open_embedder
from backread.settings import Settings
from backread.store.models import SimilarityCalibration
from recall.folders.calibration import (
    THRESHOLD,
    calibration_of,
    calibration_pairs,
    fit,
    word_share,
)


def test_the_packaged_model_tells_related_from_unrelated_at_the_default_threshold() -> None:
    embedder = open_embedder(Settings())
    calibration = fit(embedder)
    pairs = calibration_pairs()
    queries = embedder.embed_queries([query for query, _ in pairs])
    texts = embedder.embed_passages([text for _, text in pairs])
    scores = np.array(
        [
            [
                calibration.score(float(queries[row] @ texts[column]), word_share(query, text))
                for column, (_, text) in enumerate(pairs)
            ]
            for row, (query, _) in enumerate(pairs)
        ]
    )
    related = np.eye(len(pairs), dtype=bool)
    assert (scores[related] >= THRESHOLD).mean() >= 0.9
    assert (scores[~related] >= THRESHOLD).mean() <= 0.05


def test_a_score_grows_with_cosine_and_words_and_stays_between_0_and_1() -> None:
    calibration = fit(HashingEmbedder())
    grid = [-1.0, -0.5, 0.0, 0.5, 1.0]
    for words in (0.0, 0.5, 1.0):
        scores = [calibration.score(cosine, words) for cosine in grid]
        assert scores == sorted(scores)
        assert all(0 <= each <= 1 for each in scores)
    for cosine in grid:
        assert calibration.score(cosine, 0) <= calibration.score(cosine, 1)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_model_is_calibrated_once_and_the_result_kept(kernel: Kernel) -> None:
    first = calibration_of(kernel)
    with kernel.store.write() as session:
        (row,) = session.query(SimilarityCalibration).all()
        row.intercept = 5.0
    assert calibration_of(kernel).intercept == 5.0
    assert first.intercept != 5.0
