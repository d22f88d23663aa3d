"""The meaning leg: all questions of a call become vectors in one batch."""

from collections.abc import Sequence

from backread.llm.embedding import Embedder, Vectors
from backread.vectors.index import IndexFilter, IndexQuery
from recall.query import Question


def embed(embedder: Embedder, questions: Sequence[Question]) -> Vectors:
    """One row a question, in their order."""
    return embedder.embed_queries([question.dense for question in questions])


def index_query(
    vector: Sequence[float], wanted: IndexFilter, limit: int, *, model: str
) -> IndexQuery:
    """`model` is the signature of the embedder that made the vector."""
    return IndexQuery(filter=wanted, limit=limit, vector=vector, model=model)
