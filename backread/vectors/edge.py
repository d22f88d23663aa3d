"""The embedded index: Qdrant Edge shards in the data folder, one per collection.

A shard can be open in one process only, does not survive a fork, and holds the interpreter's lock
during every call. So one process owns the index (`owner.py`) and the others go through it.
`optimize()` is never called here: it would stop the whole process for as long as it runs.
"""

import fcntl
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from pathlib import Path

from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeShard,
    Filter,
    PointVectors,
    QueryBatchRequest,
    UpdateOperation,
    VectorStorageDatatype,
)

from backread.errors import Unavailable
from backread.vectors import schema
from backread.vectors.edge_shard import (
    edge_filter,
    edge_point,
    edge_query,
    is_lost,
    library_errors,
    occupants,
    open_shard,
    remove_shard,
)
from backread.vectors.encoded import EncodedFilter, EncodedPoint, EncodedQuery, EncodingIndex
from backread.vectors.index import Collection, ScoredPoint
from backread.vectors.sole_account import SoleAccount

FLUSH_SECONDS = 30.0  # a flush waits for the disk and holds up every search meanwhile

# One byte a number: a quarter of the memory to read, and half of what half precision takes. Vectors
# of an index that was made with half precision keep it.
_PRECISION, _FORMER_PRECISION = VectorStorageDatatype.Turbo8, VectorStorageDatatype.Float16


class EdgeIndex(EncodingIndex):
    """Owns the index in `directory`. Raises Unavailable when another process does already.

    Everything accepted survives the end of the process; a power cut can take the last
    `FLUSH_SECONDS`, and nothing before a `flush()`.
    """

    def __init__(self, directory: Path, embedding_signature: str | Callable[[], str] = "") -> None:
        super().__init__(embedding_signature)
        self._directory = directory / f"v{schema.SCHEMA_VERSION}"
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._shards: dict[Collection, EdgeShard] = {}
        self._sole = {each: SoleAccount(partial(self._occupants, each)) for each in Collection}
        self._deleted_from: set[Collection] = set()
        self._dense_sizes: dict[tuple[Collection, str], int] = {}
        self._unflushed = threading.Event()
        self._flushed_at = time.monotonic()
        self._closing = threading.Event()
        self._flusher: threading.Thread | None = None
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock_file = _take_lock(self._directory / "lock")
        self._generation = self._settle_generation()

    def _settle_generation(self) -> str:
        """The generation of the shards that are there.

        One that was lost, or not made to its end, will be made anew, without the points that the
        database counts as indexed. So it begins a new generation, under which all is indexed again.
        """
        path = self._directory / "generation"
        lost = [each for each in Collection if is_lost(self._directory / each)]
        if lost:
            path.unlink(missing_ok=True)  # first: killed half way, the next start does the same
        for each in lost:
            remove_shard(self._directory / each)
        return _generation(path)

    @property
    def lexical_signature(self) -> str:
        return schema.lexical_signature(self._generation)

    def upsert_encoded(
        self, collection: Collection, dense: str, points: Sequence[EncodedPoint]
    ) -> None:
        for point in points:
            if point.vector is not None:
                self._ensure_dense(collection, dense, len(point.vector))
        self._sole[collection].writes(point.account_id for point in points)
        operation = UpdateOperation.upsert_points([edge_point(point, dense) for point in points])
        self._update(collection, operation)

    def add_encoded(
        self,
        collection: Collection,
        account_id: str,
        dense: str,
        vectors: Mapping[int, Sequence[float]],
    ) -> None:
        there = self._own_points(collection, account_id, list(vectors))
        if not there:
            return
        for each in there:
            self._ensure_dense(collection, dense, len(vectors[each]))
        added = [PointVectors(each, {dense: list(vectors[each])}) for each in there]
        self._update(collection, UpdateOperation.update_vectors(added))

    def _own_points(self, collection: Collection, account_id: str, ids: Sequence[int]) -> list[int]:
        with library_errors("read"):
            found = self._shard(collection).retrieve(list(ids), [schema.ACCOUNT], False)
        return [
            int(point.id)
            for point in found
            if point.payload is not None and point.payload.get(schema.ACCOUNT) == account_id
        ]

    def drop_dense(self, dense: str) -> None:
        for collection in Collection:
            with self._lock:
                self._update(collection, UpdateOperation.delete_vector_name(dense))
                self._dense_sizes.pop((collection, dense), None)

    def search_encoded(
        self, collection: Collection, dense: str, queries: Sequence[EncodedQuery]
    ) -> list[list[ScoredPoint]]:
        for query in queries:
            if query.vector is not None:
                self._ensure_dense(collection, dense, len(query.vector))
        sole = self._sole[collection]
        claims = {each: sole.claim(each) for each in {query.filter.account_id for query in queries}}
        alone = {account_id for account_id, claim in claims.items() if claim is not None}
        found = self._query(collection, dense, queries, alone)
        if all(sole.holds(claim) for claim in claims.values() if claim is not None):
            return found
        return self._query(collection, dense, queries, alone=frozenset())

    def _query(
        self,
        collection: Collection,
        dense: str,
        queries: Sequence[EncodedQuery],
        alone: Set[str],
    ) -> list[list[ScoredPoint]]:
        # Queries that differ in nothing but their vector are scored together, in a third of the
        # time, if they stand beside each other.
        alike: dict[tuple[bool, int, EncodedFilter], list[int]] = {}
        for place, query in enumerate(queries):
            kind = (query.vector is None, query.limit, query.filter)
            alike.setdefault(kind, []).append(place)
        order = [place for places in alike.values() for place in places]
        lags = collection in self._deleted_from
        requests = [edge_query(queries[n], dense, alone, counts_lag=lags) for n in order]
        with library_errors("search"):
            found = self._shard(collection).query_batch(QueryBatchRequest(requests))
        answers: list[list[ScoredPoint]] = [[] for _ in queries]
        for place, hits in zip(order, found, strict=True):
            answers[place] = [ScoredPoint(int(hit.id), hit.score) for hit in hits]
        return answers

    def _occupants(self, collection: Collection) -> list[str]:
        with library_errors("count"):
            return occupants(self._shard(collection))

    def delete(self, collection: Collection, account_id: str, ids: Sequence[int]) -> None:
        if ids:
            self._delete(collection, edge_filter(EncodedFilter(account_id), ids=set(ids)))

    def delete_group(self, collection: Collection, account_id: str, group: str) -> None:
        self._delete(collection, edge_filter(EncodedFilter(account_id, groups=(group,))))

    def delete_account(self, account_id: str) -> None:
        mine = edge_filter(EncodedFilter(account_id))
        for collection in Collection:
            self._delete(collection, mine)

    def _delete(self, collection: Collection, wanted: Filter) -> None:
        # From now on the library's own count of how many texts hold a word is too high, until the
        # shard is opened anew; so the account's is asked for, which takes longer.
        self._deleted_from.add(collection)
        self._update(collection, UpdateOperation.delete_points_by_filter(wanted))

    def count(self, collection: Collection, account_id: str) -> int:
        mine = edge_filter(EncodedFilter(account_id))
        with library_errors("count"):
            return int(self._shard(collection).count(CountRequest(exact=True, filter=mine)))

    def flush(self) -> None:
        self._check_process()
        self._unflushed.clear()
        self._flushed_at = time.monotonic()
        with self._lock, library_errors("flush"):
            for shard in self._shards.values():
                shard.flush()

    def close(self) -> None:
        """Flushes, and lets another process take the index."""
        self._check_process()
        self._closing.set()
        if self._flusher is not None:
            self._flusher.join()
        with self._lock, library_errors("close"):
            for shard in self._shards.values():
                shard.flush()
                shard.close()
            self._shards.clear()
        if self._lock_file >= 0:
            # Said aloud: a forked child may still hold a copy of the descriptor.
            fcntl.flock(self._lock_file, fcntl.LOCK_UN)
            os.close(self._lock_file)
            self._lock_file = -1

    def _update(self, collection: Collection, operation: UpdateOperation) -> None:
        with library_errors("write"):
            self._shard(collection).update(operation)
        self._unflushed.set()
        if self._flusher is None:
            self._start_flusher()

    def _start_flusher(self) -> None:
        with self._lock:
            if self._flusher is None:
                self._flusher = threading.Thread(
                    target=self._flush_regularly, name="index-flush", daemon=True
                )
                self._flusher.start()

    def _flush_regularly(self) -> None:
        while not self._closing.wait(FLUSH_SECONDS / 10):
            # One that was asked for meanwhile will do for a while.
            is_due = time.monotonic() - self._flushed_at >= FLUSH_SECONDS
            if self._unflushed.is_set() and is_due:
                self.flush()

    def _shard(self, collection: Collection) -> EdgeShard:
        self._check_process()
        shard = self._shards.get(collection)
        if shard is None:
            with self._lock:
                if self._closing.is_set():
                    raise Unavailable("The search index is closed.")
                shard = self._shards.get(collection)
                if shard is None:
                    shard = self._shards[collection] = open_shard(self._directory / collection)
        return shard

    def _ensure_dense(self, collection: Collection, dense: str, size: int) -> None:
        known = self._dense_sizes.get((collection, dense))
        if known is None:
            with self._lock:
                self._make_dense(collection, dense, size)
            self._dense_sizes[collection, dense] = size
        elif known != size:
            raise Unavailable(
                f"The embedding model gave {size} numbers a text where it used to give {known}.",
                hint="Set BACKREAD_EMBEDDING_MODEL to the name of the model that now answers.",
            )

    def _make_dense(self, collection: Collection, dense: str, size: int) -> None:
        """A no-op when the vector is there already, also in the former precision."""
        shard = self._shard(collection)
        present, former = (
            UpdateOperation.create_dense_vector(dense, size, Distance.Cosine, datatype=each)
            for each in (_PRECISION, _FORMER_PRECISION)
        )
        try:
            with library_errors("prepare vectors"):
                shard.update(present)
        except Unavailable:
            with library_errors("prepare vectors"):
                shard.update(former)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                f"the search index was opened by process {self._process} and must not be used in "
                f"its child {os.getpid()}: open it after the fork"
            )


def _take_lock(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
        os.close(descriptor)
        raise Unavailable(
            f"Another Backread process (pid {holder}) has the search index open.",
            hint="Start the server with `backread up`, so that processes share it, or wait.",
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return descriptor


def _generation(path: Path) -> str:
    if not path.exists():
        fresh = path.with_suffix(".new")
        fresh.write_text(secrets.token_hex(8), encoding="ascii")
        fresh.replace(path)
    return path.read_text(encoding="ascii")
