"""How far the scores of `vector_search` tell related texts from unrelated ones.

    python -m benchmarks.folder_similarity [MODEL …]

Pairs here are others than those that the calibration is fitted on. Related: a query and the text
that answers it. Unrelated: a query and any other text. The baseline is the cosine itself against
the same threshold of .7.
"""

import argparse
from pathlib import Path

import numpy as np

from backread.llm.open import open_embedder
from backread.settings import Settings
from recall.folders.calibration import THRESHOLD, fit, word_share

_PAIRS = Path(__file__).with_name("pairs.tsv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=[Settings().embedding_model])
    for model in parser.parse_args().models:
        report(model)


def report(model: str) -> None:
    embedder = open_embedder(Settings(embedding_model=model))
    calibration = fit(embedder)
    pairs = [line.split("\t") for line in _PAIRS.read_text("utf-8").splitlines() if line]
    queries = embedder.embed_queries([query for query, _ in pairs])
    texts = embedder.embed_passages([text for _, text in pairs])
    cosines = queries @ texts.T
    scores = np.array(
        [
            [
                calibration.score(float(cosines[row, column]), word_share(query, text))
                for column, (_, text) in enumerate(pairs)
            ]
            for row, (query, _) in enumerate(pairs)
        ]
    )
    related = np.eye(len(pairs), dtype=bool)
    print(f"{model or 'packaged model'}: {len(pairs)} related, {(~related).sum()} unrelated pairs")
    for name, values in (("calibrated", scores), ("cosine", cosines)):
        above = values >= THRESHOLD
        print(
            f"  {name:<10}  related ≥ .7: {above[related].mean():6.1%}   "
            f"unrelated ≥ .7: {above[~related].mean():6.1%}"
        )


if __name__ == "__main__":
    main()
