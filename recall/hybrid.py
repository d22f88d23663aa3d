"""One query by its words and by its meaning, for memories and documents.

Chats have a pipeline of their own (`recall.retrieval`), which takes many queries at once.
"""

from collections.abc import Sequence

from rank_bm25 import BM25Plus

from backread.errors import Unavailable
from backread.kernel import Kernel
from backread.text.stemmers import languages_of_question
from backread.vectors.index import Collection, IndexFilter, IndexQuery, ScoredPoint
from recall.query import without_question_words
from recall.sentences import stems


def by_words_and_meaning(
    kernel: Kernel, collection: Collection, query: str, within: IndexFilter, *, limit: int
) -> tuple[list[ScoredPoint], list[ScoredPoint]]:
    """What the index has by the query's words, and what by its meaning, best first. While the
    embedding model is away there is nothing of the latter. Raises Unavailable when the index is."""
    queries = [by_its_words(query, within, limit)]
    embedder = kernel.embedder  # the same one throughout, should models change meanwhile
    try:
        vector = embedder.embed_queries([query])[0].tolist()
    except Unavailable:
        (by_words,) = kernel.index.search(collection, queries)
        return by_words, []
    queries.append(IndexQuery(filter=within, limit=limit, vector=vector, model=embedder.signature))
    by_words, by_meaning = kernel.index.search(collection, queries)
    return by_words, by_meaning


def by_its_words(query: str, within: IndexFilter, limit: int) -> IndexQuery:
    """What asks the index for the words of a query."""
    return IndexQuery(
        filter=within,
        limit=limit,
        words=without_question_words(query),
        languages=languages_of_question(query),
    )


def shares(points: Sequence[ScoredPoint]) -> dict[int, float]:
    """By id, the score as a share of the best one's. For scores by words, whose zero says that no
    word is common."""
    top = max((point.score for point in points), default=0.0) or 1.0
    return {point.id: point.score / top for point in points}


def by_range(points: Sequence[ScoredPoint]) -> dict[int, float]:
    """By id, where the score lies between the lowest and the highest. For cosines, which have no
    zero of their own: the last that was asked for is taken as one."""
    if not points:
        return {}
    low = min(point.score for point in points)
    high = max(point.score for point in points)
    if high <= low:
        return {point.id: 1.0 for point in points}
    return {point.id: (point.score - low) / (high - low) for point in points}


def word_scores(query: str, texts: Sequence[str]) -> list[float]:
    """For each text that the index does not have yet how well its words fit the query: 1 for the
    best of them, 0 for one that has none of the words."""
    asked = stems(query)
    if not texts or not asked:
        return [0.0] * len(texts)
    held = [stems(text) or [""] for text in texts]
    found = BM25Plus(held).get_scores(asked)
    # BM25Plus gives something to every text, also to one without any of the words.
    scores = [
        0.0 if set(asked).isdisjoint(own) else float(score)
        for own, score in zip(held, found, strict=True)
    ]
    top = max(scores) or 1.0
    return [score / top for score in scores]
