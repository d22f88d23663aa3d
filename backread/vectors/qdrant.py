"""The index on a Qdrant server, for installations of many machines.

Layout, weights and token ids are those of the embedded index. One collection holds all accounts,
with the account as tenant. Nothing is kept in this process, so any number of servers and workers
may use one Qdrant.
"""

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from backread.errors import Unavailable
from backread.vectors import schema
from backread.vectors.encoded import EncodedFilter, EncodedPoint, EncodedQuery, EncodingIndex
from backread.vectors.index import Collection, ScoredPoint

IN_MEMORY = ":memory:"

_TIMEOUT_SECONDS = 60
# IDF over one account's points, and vectors added to a collection that exists.
_OLDEST_VERSION = (1, 20)
_GENERATION = "generation"


class QdrantIndex(EncodingIndex):
    """Connects to the server at `url`; `:memory:` is an index that lives as long as this object.

    Makes the collections if they are not there. A write has been applied when the call returns;
    when it is on disk is the server's setting (`wal`), so `flush()` has nothing to add. Raises
    Unavailable when the server cannot be reached or is too old.
    """

    def __init__(
        self, url: str, embedding_signature: str | Callable[[], str], *, api_key: str = ""
    ) -> None:
        super().__init__(embedding_signature)
        self._is_server = url != IN_MEMORY
        self._lock = threading.Lock()
        self._dense_sizes: dict[tuple[Collection, str], int] = {}
        if self._is_server:
            self._client = QdrantClient(
                url=url,
                api_key=api_key or None,
                timeout=_TIMEOUT_SECONDS,
                check_compatibility=False,  # it warns; _check_version says what to do
            )
        else:
            self._client = QdrantClient(IN_MEMORY)
        with _server_errors():
            if self._is_server:
                self._check_version()
            for collection in Collection:
                self._make_collection(collection)

    @property
    def lexical_signature(self) -> str:
        with _server_errors():
            about = self._client.get_collection(_name(Collection.PASSAGES)).config.metadata or {}
        return schema.lexical_signature(str(about.get(_GENERATION, "")))

    def upsert_encoded(
        self, collection: Collection, dense: str, points: Sequence[EncodedPoint]
    ) -> None:
        for point in points:
            if point.vector is not None:
                self._ensure_dense(collection, dense, len(point.vector))
        with _server_errors():
            self._client.upsert(
                _name(collection), [_server_point(point, dense) for point in points], wait=True
            )

    def add_encoded(
        self,
        collection: Collection,
        account_id: str,
        dense: str,
        vectors: Mapping[int, Sequence[float]],
    ) -> None:
        name = _name(collection)
        with _server_errors():
            found = self._client.retrieve(name, list(vectors), with_payload=[schema.ACCOUNT])
        there = [
            int(point.id)
            for point in found
            if (point.payload or {}).get(schema.ACCOUNT) == account_id
        ]
        for each in there:
            self._ensure_dense(collection, dense, len(vectors[each]))
        if there:
            added = [
                models.PointVectors(id=each, vector={dense: [float(n) for n in vectors[each]]})
                for each in there
            ]
            with _server_errors():
                self._client.update_vectors(name, added, wait=True)

    def drop_dense(self, dense: str) -> None:
        for collection in Collection:
            with self._lock, _server_errors():
                if self._dense_size(collection, dense) is not None:
                    self._client.delete_vector_name(_name(collection), dense)
                self._dense_sizes.pop((collection, dense), None)

    def search_encoded(
        self, collection: Collection, dense: str, queries: Sequence[EncodedQuery]
    ) -> list[list[ScoredPoint]]:
        for query in queries:
            if query.vector is not None:
                self._ensure_dense(collection, dense, len(query.vector))
        requests = [_server_query(query, dense) for query in queries]
        with _server_errors():
            answers = self._client.query_batch_points(_name(collection), requests)
        return [[ScoredPoint(int(hit.id), hit.score) for hit in each.points] for each in answers]

    def delete(self, collection: Collection, account_id: str, ids: Sequence[int]) -> None:
        if ids:
            self._delete(collection, _server_filter(EncodedFilter(account_id), ids=ids))

    def delete_group(self, collection: Collection, account_id: str, group: str) -> None:
        self._delete(collection, _server_filter(EncodedFilter(account_id, groups=(group,))))

    def delete_account(self, account_id: str) -> None:
        for collection in Collection:
            self._delete(collection, _server_filter(EncodedFilter(account_id)))

    def count(self, collection: Collection, account_id: str) -> int:
        mine = _server_filter(EncodedFilter(account_id))
        with _server_errors():
            return self._client.count(_name(collection), count_filter=mine, exact=True).count

    def flush(self) -> None:
        """Nothing to do: see the class."""

    def close(self) -> None:
        self._client.close()

    def _delete(self, collection: Collection, wanted: models.Filter) -> None:
        with _server_errors():
            self._client.delete(_name(collection), models.FilterSelector(filter=wanted), wait=True)

    def _check_version(self) -> None:
        version = self._client.info().version
        numbers = tuple(int(part) for part in version.split("-")[0].split(".")[:2])
        if numbers < _OLDEST_VERSION:
            oldest = ".".join(map(str, _OLDEST_VERSION))
            raise Unavailable(
                f"The Qdrant server is version {version}; Backread needs {oldest} or newer.",
                hint="Upgrade it, or leave BACKREAD_QDRANT_URL empty to use the embedded index.",
            )

    def _make_collection(self, collection: Collection) -> None:
        name = _name(collection)
        if self._client.collection_exists(name):
            return
        words = models.SparseVectorParams(modifier=models.Modifier.IDF)
        try:
            self._client.create_collection(
                name,
                vectors_config={},
                sparse_vectors_config={schema.WORDS: words},
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=schema.ACCOUNT_GRAPH_LINKS),
                metadata={_GENERATION: secrets.token_hex(8)},
            )
        except UnexpectedResponse as error:
            if error.status_code != 409:  # another process was first
                raise
        if self._is_server:  # in memory they would have no effect
            for field, parameters in _PAYLOAD_INDEXES.items():
                self._client.create_payload_index(name, field, parameters, wait=True)

    def _ensure_dense(self, collection: Collection, dense: str, size: int) -> None:
        with self._lock, _server_errors():
            known = self._dense_sizes.get((collection, dense)) or self._dense_size(
                collection, dense
            )
            if known is None:
                self._client.create_vector_name(_name(collection), dense, _dense_config(size))
                known = size
            self._dense_sizes[collection, dense] = known
        if known != size:
            raise Unavailable(
                f"The embedding model gave {size} numbers a text where it used to give {known}.",
                hint="Set BACKREAD_EMBEDDING_MODEL to the name of the model that now answers.",
            )

    def _dense_size(self, collection: Collection, dense: str) -> int | None:
        vectors = self._client.get_collection(_name(collection)).config.params.vectors
        if not isinstance(vectors, dict) or dense not in vectors:
            return None
        return int(vectors[dense].size)


_PAYLOAD_INDEXES: dict[str, models.PayloadSchemaParams] = {
    schema.ACCOUNT: models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    schema.GROUP: models.KeywordIndexParams(
        type=models.KeywordIndexType.KEYWORD, enable_hnsw=False
    ),
    schema.PLATFORM: models.KeywordIndexParams(
        type=models.KeywordIndexType.KEYWORD, enable_hnsw=False
    ),
    schema.TIME: models.IntegerIndexParams(
        type=models.IntegerIndexType.INTEGER, lookup=False, range=True, enable_hnsw=False
    ),
}


@contextmanager
def _server_errors() -> Iterator[None]:
    try:
        yield
    except (ApiException, QdrantException, OSError) as error:
        raise Unavailable(
            f"The Qdrant server failed to answer: {error}.",
            hint="Check BACKREAD_QDRANT_URL and that the server runs.",
        ) from error


def _name(collection: Collection) -> str:
    return f"backread_{collection.value}_v{schema.SCHEMA_VERSION}"


def _dense_config(size: int) -> models.DenseVectorNameConfig:
    return models.DenseVectorNameConfig(
        dense=models.DenseVectorConfig(
            size=size,
            distance=models.Distance.COSINE,
            datatype=models.VectorStorageDatatype.FLOAT16,
        )
    )


def _server_point(point: EncodedPoint, dense: str) -> models.PointStruct:
    vectors: dict[str, models.SparseVector | list[float]] = {
        schema.WORDS: models.SparseVector(indices=point.words.indices, values=point.words.values)
    }
    if point.vector is not None:
        vectors[dense] = [float(number) for number in point.vector]
    return models.PointStruct(id=point.id, vector=vectors, payload=point.payload)


def _server_query(query: EncodedQuery, dense: str) -> models.QueryRequest:
    wanted = _server_filter(query.filter)
    if query.vector is None:
        assert query.words is not None
        account = _server_filter(EncodedFilter(query.filter.account_id))
        return models.QueryRequest(
            query=models.NearestQuery(
                nearest=models.SparseVector(indices=query.words.indices, values=query.words.values)
            ),
            using=schema.WORDS,
            filter=wanted,
            limit=query.limit,
            params=models.SearchParams(idf=models.IdfCorpusParams(corpus=account)),
        )
    return models.QueryRequest(
        query=models.NearestQuery(nearest=[float(number) for number in query.vector]),
        using=dense,
        filter=wanted,
        limit=query.limit,
    )


def _server_filter(wanted: EncodedFilter, ids: Sequence[int] | None = None) -> models.Filter:
    conditions: list[models.Condition] = [
        models.FieldCondition(key=schema.ACCOUNT, match=models.MatchValue(value=wanted.account_id))
    ]
    if wanted.after is not None or wanted.before is not None:
        moment = models.Range(gte=wanted.after, lte=wanted.before)
        conditions.append(models.FieldCondition(key=schema.TIME, range=moment))
    for field, values in ((schema.PLATFORM, wanted.platforms), (schema.GROUP, wanted.groups)):
        if values:
            conditions.append(
                models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))
            )
    if ids is not None:
        conditions.append(models.HasIdCondition(has_id=list(ids)))
    return models.Filter(must=conditions)
