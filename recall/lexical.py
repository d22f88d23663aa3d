"""The word leg: BM25 in the search index, and full text for what the index does not have yet."""

from collections.abc import Sequence

from backread.store.engine import ReadSession
from backread.store.repositories.retrieval import PassageFilter, has_unindexed, search_words
from backread.vectors.index import IndexFilter, IndexQuery, ScoredPoint
from recall.query import Question


def index_query(question: Question, wanted: IndexFilter, limit: int) -> IndexQuery:
    return IndexQuery(
        filter=wanted, limit=limit, words=question.lexical, languages=question.languages
    )


def add_unindexed(
    session: ReadSession,
    signature: str,
    questions: Sequence[Question],
    filters: Sequence[PassageFilter],
    found: Sequence[Sequence[ScoredPoint]],
    limit: int,
) -> list[list[ScoredPoint]]:
    """The index's answers with those passages added that were stored but not indexed yet.

    The two scores have different scales, so the fresh ones are placed by rank: the best of them
    beside the index's best.
    """
    answers = [list(points) for points in found]
    if not filters or not has_unindexed(session, filters[0].account_id, signature):
        return answers
    for answer, question, wanted in zip(answers, questions, filters, strict=True):
        fresh = search_words(
            session, wanted, question.any_words(), limit=limit, not_indexed_with=signature
        )
        if not fresh:
            continue
        top = max((point.score for point in answer), default=1.0)
        best = fresh[0][1] or 1.0
        known = {point.id for point in answer}
        answer.extend(
            ScoredPoint(point_id, top * max(score, 0.0) / best)
            for point_id, score in fresh
            if point_id not in known
        )
        answer.sort(key=lambda point: -point.score)
    return answers
