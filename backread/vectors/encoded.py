"""Points and queries with their words already turned into BM25 weights, and the index over them.

Tokenising costs about as much as storing. Doing it before a point is handed on keeps it out of
the owner process, whose interpreter every search waits for.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backread.vectors.bm25 import SparseWords, encode_document, encode_query
from backread.vectors.index import Collection, IndexFilter, IndexPoint, IndexQuery, ScoredPoint

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def to_milliseconds(moment: datetime | None) -> int | None:
    """Whole milliseconds since 1970, rounded down, also for times before it."""
    return None if moment is None else (moment - _EPOCH) // _MILLISECOND


@dataclass(frozen=True, slots=True)
class EncodedPoint:
    id: int
    account_id: str
    group: str
    words: SparseWords
    vector: Sequence[float] | None
    occurred_at: int | None  # milliseconds since 1970
    platform: str


@dataclass(frozen=True, slots=True)
class EncodedFilter:
    account_id: str
    after: int | None = None
    before: int | None = None
    platforms: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """`words` or `vector` is None, never both."""

    filter: EncodedFilter
    limit: int
    words: SparseWords | None
    vector: Sequence[float] | None


class EncodingIndex(ABC):
    """The part of `VectorIndex` that is the same over every store of encoded points."""

    def upsert(self, collection: Collection, points: Sequence[IndexPoint]) -> None:
        if points:
            self.upsert_encoded(collection, [_encode_point(point) for point in points])

    def search(
        self, collection: Collection, queries: Sequence[IndexQuery]
    ) -> list[list[ScoredPoint]]:
        if not queries:
            return []
        return self.search_encoded(collection, [_encode_search(query) for query in queries])

    @abstractmethod
    def upsert_encoded(self, collection: Collection, points: Sequence[EncodedPoint]) -> None: ...

    @abstractmethod
    def search_encoded(
        self, collection: Collection, queries: Sequence[EncodedQuery]
    ) -> list[list[ScoredPoint]]: ...


def _encode_point(point: IndexPoint) -> EncodedPoint:
    return EncodedPoint(
        id=point.id,
        account_id=point.account_id,
        group=point.group,
        words=encode_document(point.text),
        vector=point.vector,
        occurred_at=to_milliseconds(point.occurred_at),
        platform=point.platform,
    )


def _encode_search(query: IndexQuery) -> EncodedQuery:
    if (query.words is None) == (query.vector is None):
        raise ValueError("a query has either words or a vector")
    return EncodedQuery(
        filter=_encode_filter(query.filter),
        limit=query.limit,
        words=None if query.words is None else encode_query(query.words),
        vector=query.vector,
    )


def _encode_filter(wanted: IndexFilter) -> EncodedFilter:
    return EncodedFilter(
        account_id=wanted.account_id,
        after=to_milliseconds(wanted.after),
        before=to_milliseconds(wanted.before),
        platforms=wanted.platforms,
        groups=wanted.groups,
    )
