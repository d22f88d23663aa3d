"""Opens Qdrant Edge shards and puts our points, queries and filters into the library's terms."""

import shutil
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path

from qdrant_edge import (
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    FieldCondition,
    Filter,
    HasIdCondition,
    HnswIndexConfig,
    IdfParams,
    IntegerIndexParams,
    KeywordIndexParams,
    MatchAny,
    MatchValue,
    Modifier,
    Point,
    Query,
    QueryRequest,
    RangeFloat,
    ScrollRequest,
    SearchParams,
    SparseVector,
    UpdateOperation,
)

from backread.errors import Unavailable
from backread.vectors import schema
from backread.vectors.encoded import EncodedFilter, EncodedPoint, EncodedQuery


@contextmanager
def library_errors(doing: str, hint: str = "") -> Iterator[None]:
    """Turns what the library raises into Unavailable, and nothing else: its errors are of the
    bare class Exception, everything that is not stays as it is."""
    try:
        yield
    except Exception as error:
        if type(error) is not Exception:
            raise
        raise Unavailable(f"The search index failed to {doing}: {error}.", hint=hint) from error


def is_lost(path: Path) -> bool:
    """Whether there was a shard at `path`, or the beginning of one, and there is no more."""
    return _mark_of(path).exists() != path.is_dir()


def remove_shard(path: Path) -> None:
    """Leaves `path` as it was before there was a shard."""
    shutil.rmtree(path, ignore_errors=True)
    _mark_of(path).unlink(missing_ok=True)


def _mark_of(path: Path) -> Path:
    return path.with_suffix(".whole")


def open_shard(path: Path) -> EdgeShard:
    """Opens the shard at `path`, or makes it. One that a killed process left half made is made
    anew. Raises Unavailable when it cannot be read."""
    hint = (
        f"If this stays, stop Backread, delete {path.parent} and run `backread reindex`: "
        "all of it can be built again from the database."
    )
    with library_errors("open", hint=hint):
        if _mark_of(path).exists():
            return EdgeShard.load(str(path))
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o700)
        shard = _create_shard(path)
        shard.flush()
        _mark_of(path).touch(mode=0o600)
        return shard


def _create_shard(path: Path) -> EdgeShard:
    # Every account gets a graph of its own (`payload_m`) and there is none across accounts (`m`).
    graph = HnswIndexConfig(
        m=0,
        ef_construct=100,
        full_scan_threshold=10_000,
        payload_m=schema.ACCOUNT_GRAPH_LINKS,
    )
    words = EdgeSparseVectorParams(modifier=Modifier.Idf)
    shard = EdgeShard.create(
        str(path), EdgeConfig(sparse_vectors={schema.WORDS: words}, hnsw_config=graph)
    )
    # A field that joins the graph without need makes building it take hours: only the account may.
    fields: dict[str, KeywordIndexParams | IntegerIndexParams] = {
        schema.ACCOUNT: KeywordIndexParams(is_tenant=True),
        schema.GROUP: KeywordIndexParams(enable_hnsw=False),
        schema.PLATFORM: KeywordIndexParams(enable_hnsw=False),
        schema.TIME: IntegerIndexParams(lookup=False, range=True, enable_hnsw=False),
    }
    for field, parameters in fields.items():
        shard.update(UpdateOperation.create_field_index(field, parameters))
    return shard


def edge_point(point: EncodedPoint, dense: str) -> Point:
    vectors: dict[str, list[float] | SparseVector | list[list[float]]] = {
        schema.WORDS: SparseVector(point.words.indices, point.words.values)
    }
    if point.vector is not None:
        vectors[dense] = list(point.vector)
    return Point(point.id, vectors, point.payload)


def occupants(shard: EdgeShard) -> list[str]:
    """Accounts that have points in it; of more than two, two."""
    found: list[str] = []
    points, _ = shard.scroll(ScrollRequest(limit=1, with_payload=[schema.ACCOUNT]))
    for point in points:
        first = str((point.payload or {}).get(schema.ACCOUNT, ""))
        own = Filter(must=[FieldCondition(schema.ACCOUNT, match=MatchValue(first))])
        others, _ = shard.scroll(
            ScrollRequest(limit=1, filter=Filter(must_not=[own]), with_payload=[schema.ACCOUNT])
        )
        found = [str((each.payload or {}).get(schema.ACCOUNT, "")) for each in (point, *others)]
    return found


def edge_query(
    query: EncodedQuery, dense: str, alone: Set[str], *, counts_lag: bool
) -> QueryRequest:
    """`alone`: accounts that all points are of, so that none has to be kept from the query.
    `counts_lag`: the shard counts words of points that are gone."""
    account_id = query.filter.account_id
    wanted = edge_filter(query.filter, is_alone=account_id in alone)
    if query.vector is None:
        assert query.words is not None
        words = SparseVector(query.words.indices, query.words.values)
        is_counted = account_id in alone and not counts_lag
        account = None if is_counted else edge_filter(EncodedFilter(account_id))
        return QueryRequest(
            limit=query.limit,
            query=Query.Nearest(words, using=schema.WORDS),
            filter=wanted,
            params=None if account is None else SearchParams(idf=IdfParams(corpus=account)),
        )
    nearest = Query.Nearest(list(query.vector), using=dense)
    return QueryRequest(limit=query.limit, query=nearest, filter=wanted)


def edge_filter(
    wanted: EncodedFilter, ids: set[int] | None = None, *, is_alone: bool = False
) -> Filter:
    """All conditions at once. `ids` narrows to those points, still of this account only.
    `is_alone`: there are no other accounts, so the account is no condition."""
    conditions: list[FieldCondition | HasIdCondition] = []
    if not is_alone:
        conditions.append(FieldCondition(schema.ACCOUNT, match=MatchValue(wanted.account_id)))
    if wanted.after is not None or wanted.before is not None:
        moment = RangeFloat(gte=wanted.after, lte=wanted.before)
        conditions.append(FieldCondition(schema.TIME, range=moment))
    if wanted.platforms:
        conditions.append(FieldCondition(schema.PLATFORM, match=MatchAny(list(wanted.platforms))))
    if wanted.groups:
        conditions.append(FieldCondition(schema.GROUP, match=MatchAny(list(wanted.groups))))
    if ids is not None:
        conditions.append(HasIdCondition({*ids}))
    return Filter(must=[*conditions])
