"""Points and queries with their words already turned into BM25 weights, and the index over them.

Tokenising costs about as much as storing. Doing it before a point is handed on keeps it out of
the owner process, whose interpreter every search waits for.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backread.vectors import schema
from backread.vectors.bm25 import SparseWords, encode_document, encode_query
from backread.vectors.index import Collection, IndexFilter, IndexPoint, IndexQuery, ScoredPoint

# Bounds one call into the index, so that others get their turn in between.
UPSERT_BATCH = 500
SEARCH_BATCH = 32

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

    @property
    def payload(self) -> dict[str, str | int]:
        """What filters look at. A time that is not known is absent, so no range matches it."""
        fields: dict[str, str | int] = {
            schema.ACCOUNT: self.account_id,
            schema.GROUP: self.group,
            schema.PLATFORM: self.platform,
        }
        if self.occurred_at is not None:
            fields[schema.TIME] = self.occurred_at
        return fields


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

    @property
    def has_words(self) -> bool:
        return self.words is not None and bool(self.words.indices)


class EncodingIndex(ABC):
    """The part of `VectorIndex` that is the same over every store of encoded points.

    `embedding_signature` names the model that the index is open for, or says which it is at the
    moment of each call.
    """

    def __init__(self, embedding_signature: str | Callable[[], str]) -> None:
        self._signature = embedding_signature

    def upsert(
        self, collection: Collection, points: Sequence[IndexPoint], *, model: str = ""
    ) -> None:
        dense = self._dense(model)
        for start in range(0, len(points), UPSERT_BATCH):
            batch = [_encode_point(point) for point in points[start : start + UPSERT_BATCH]]
            self.upsert_encoded(collection, dense, batch)

    def add_vectors(
        self,
        collection: Collection,
        account_id: str,
        vectors: Mapping[int, Sequence[float]],
        *,
        model: str,
    ) -> None:
        ids = list(vectors)
        for start in range(0, len(ids), UPSERT_BATCH):
            some = {each: vectors[each] for each in ids[start : start + UPSERT_BATCH]}
            self.add_encoded(collection, account_id, schema.dense_name(model), some)

    def drop_model(self, model: str) -> None:
        self.drop_dense(schema.dense_name(model))

    def search(
        self, collection: Collection, queries: Sequence[IndexQuery]
    ) -> list[list[ScoredPoint]]:
        encoded = [_encode_search(query) for query in queries]
        # A query of punctuation alone has no words and finds nothing.
        askable = [
            n for n, query in enumerate(encoded) if query.vector is not None or query.has_words
        ]
        answers: list[list[ScoredPoint]] = [[] for _ in encoded]
        models = {query.model for query in queries if query.vector is not None} or {""}
        if len(models) > 1:
            raise ValueError("the vectors of one search come from one model")
        dense = self._dense(models.pop())
        for start in range(0, len(askable), SEARCH_BATCH):
            places = askable[start : start + SEARCH_BATCH]
            found = self.search_encoded(collection, dense, [encoded[n] for n in places])
            for place, points in zip(places, found, strict=True):
                answers[place] = points
        return answers

    @abstractmethod
    def upsert_encoded(
        self, collection: Collection, dense: str, points: Sequence[EncodedPoint]
    ) -> None:
        """`dense` is the name of the vector that the points' vectors are stored under."""

    @abstractmethod
    def add_encoded(
        self,
        collection: Collection,
        account_id: str,
        dense: str,
        vectors: Mapping[int, Sequence[float]],
    ) -> None:
        """Those of the account's points that there are get the vector, and keep the rest."""

    @abstractmethod
    def drop_dense(self, dense: str) -> None:
        """Removes the vectors of this name from all collections."""

    def _dense(self, model: str) -> str:
        """Name of the vectors of a model; of the one that the index is open for, if none is
        named."""
        if not model:
            model = self._signature if isinstance(self._signature, str) else self._signature()
        return schema.dense_name(model)

    @abstractmethod
    def search_encoded(
        self, collection: Collection, dense: str, queries: Sequence[EncodedQuery]
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
        words=None if query.words is None else encode_query(query.words, query.languages),
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
