"""How the embedded index grows: time, memory, disk, and what other ways of keeping vectors give.

    nice python -m benchmarks.scale [--points 10000 100000] [--layouts product half turbo4 graph …]
        [--seed 1] [--keep FOLDER] [--plot docs/images/scale.svg]

Points have made-up vectors in clusters, as texts have, and a sparse vector of 40 words. One
account holds all but 0.5 % of them; that half percent is a small account of its own. `alone` asks
as the product does where nobody else has an account: without narrowing to it. Layouts:

- `product`: one byte a number (the library's `Turbo8`), every vector compared;
- `half`: half precision, every vector compared;
- `turbo4`, `int8`, `binary`: half precision and a quantised copy, the best of it compared again;
- `graph`: as `product`, with an HNSW graph for each account, built by the library's `optimize()`,
  which stops the process meanwhile; `int8-optimised`: likewise without a graph.

Recall is against exact search over the same vectors. Times are milliseconds: CPU of the one
process that holds the index, and the clock at the median and the 95th percentile. `--keep` keeps
the built indexes, and asks those that are there already without building them.
"""

import argparse
import gc
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from qdrant_edge import (
    BinaryQuantizationConfig,
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    HnswIndexConfig,
    IdfParams,
    KeywordIndexParams,
    MatchValue,
    Memory,
    Modifier,
    Point,
    QuantizationSearchParams,
    Query,
    QueryBatchRequest,
    QueryRequest,
    ScalarQuantizationConfig,
    ScalarType,
    SearchParams,
    SparseVector,
    TurboQuantBitSize,
    TurboQuantQuantizationConfig,
    UpdateOperation,
    VectorStorageDatatype,
)

from benchmarks.scale_plot import write_plot

_DIMENSIONS = 384
_QUERIES = 200
_TOP = 10
_WORDS = 40
_VOCABULARY = 50_000
_SMALL_SHARE = 0.005
_SPREAD = 0.75  # of a text around the middle of its cluster
_CHUNK = 100_000
_CALL = 15  # queries of one call
_LAYOUTS = ("product", "half", "turbo4", "int8", "binary", "graph", "int8-optimised")
_RESCORED = {"turbo4": 2.0, "int8": 2.0, "int8-optimised": 2.0, "binary": 4.0}


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds, megabytes, shares of one."""

    layout: str
    points: int
    insert_seconds: float
    optimise_seconds: float
    dense_cpu: float
    dense_p50: float
    dense_p95: float
    alone_cpu: float
    alone_p50: float
    alone_p95: float
    alone_15_cpu: float
    words_cpu: float
    words_p50: float
    words_p95: float
    alone_words_cpu: float
    small_cpu: float
    recall: float
    small_recall: float
    disk_mb: float
    memory_mb: float


def made_up(count: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit vectors in clusters, and questions near some of them."""
    draw = np.random.default_rng(seed)
    middles = draw.standard_normal((max(20, count // 200), _DIMENSIONS), dtype=np.float32)
    vectors = middles[draw.integers(0, len(middles), count)]
    vectors += _SPREAD * draw.standard_normal(vectors.shape, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    questions = vectors[draw.integers(0, count, _QUERIES)]
    questions = questions + 0.03 * draw.standard_normal(questions.shape, dtype=np.float32)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    return vectors, questions.astype(np.float32)


def words_of(draw: np.random.Generator) -> list[int]:
    """Token ids as rare and as common as words are."""
    ranks = np.minimum(draw.zipf(1.2, _WORDS) + 5, _VOCABULARY)
    return sorted({int(rank) for rank in ranks})


def owner_of(place: int) -> str:
    return "small" if place % round(1 / _SMALL_SHARE) == 0 else "large"


def is_account(name: str) -> Filter:
    return Filter(must=[FieldCondition("account_id", match=MatchValue(name))])


def new_shard(path: Path, layout: str) -> EdgeShard:
    quantised: (
        ScalarQuantizationConfig | BinaryQuantizationConfig | TurboQuantQuantizationConfig | None
    ) = None
    if layout.startswith("int8"):
        quantised = ScalarQuantizationConfig(ScalarType.Int8, quantile=0.99, memory=Memory.Pinned)
    elif layout == "binary":
        quantised = BinaryQuantizationConfig(memory=Memory.Pinned)
    elif layout == "turbo4":
        quantised = TurboQuantQuantizationConfig(bits=TurboQuantBitSize.Bits4, memory=Memory.Pinned)
    is_small = layout in {"product", "graph"}
    config = EdgeConfig(
        vectors={
            "d": EdgeVectorParams(
                _DIMENSIONS,
                Distance.Cosine,
                datatype=VectorStorageDatatype.Turbo8
                if is_small
                else VectorStorageDatatype.Float16,
                quantization_config=quantised,
            )
        },
        sparse_vectors={"w": EdgeSparseVectorParams(modifier=Modifier.Idf)},
        hnsw_config=HnswIndexConfig(
            m=0,
            ef_construct=100,
            full_scan_threshold=10_000,
            payload_m=16 if layout == "graph" else 0,
        ),
    )
    path.mkdir()
    shard = EdgeShard.create(str(path), config)
    shard.update(
        UpdateOperation.create_field_index("account_id", KeywordIndexParams(is_tenant=True))
    )
    return shard


def fill(shard: EdgeShard, vectors: NDArray[np.float32], seed: int) -> float:
    draw = np.random.default_rng(seed)
    seconds = 0.0
    for start in range(0, len(vectors), 500):
        points = []
        for place in range(start, min(start + 500, len(vectors))):
            words = words_of(draw)
            points.append(
                Point(
                    place,
                    {
                        "d": vectors[place].tolist(),
                        "w": SparseVector(words, [1.0] * len(words)),
                    },
                    {"account_id": owner_of(place)},
                )
            )
        began = time.process_time()
        shard.update(UpdateOperation.upsert_points(points))
        seconds += time.process_time() - began
    shard.flush()
    return seconds


@dataclass(frozen=True, slots=True)
class Timed:
    """CPU a query and percentiles of the clock, in ms, and what was found."""

    cpu: float
    p50: float
    p95: float
    found: list[set[int]]


def timed(shard: EdgeShard, requests: list[QueryRequest]) -> Timed:
    for request in requests[:10]:
        shard.query(request)
    clock, found = [], []
    cpu = time.process_time()
    for request in requests:
        began = time.perf_counter()
        hits = shard.query(request)
        clock.append((time.perf_counter() - began) * 1000)
        found.append({int(hit.id) for hit in hits})
    used = (time.process_time() - cpu) * 1000 / len(requests)
    p50, p95 = np.percentile(clock, [50, 95])
    return Timed(used, float(p50), float(p95), found)


def cpu_of_calls(shard: EdgeShard, requests: list[QueryRequest]) -> float:
    """CPU of one call with several queries, in ms."""
    calls = [
        QueryBatchRequest(requests[start : start + _CALL])
        for start in range(0, len(requests) - _CALL + 1, _CALL)
    ]
    shard.query_batch(calls[0])
    began = time.process_time()
    for call in calls:
        shard.query_batch(call)
    return (time.process_time() - began) * 1000 / len(calls)


def dense_requests(
    questions: NDArray[np.float32], account: str | None, layout: str
) -> list[QueryRequest]:
    params = None
    if layout in _RESCORED:
        params = SearchParams(
            quantization=QuantizationSearchParams(rescore=True, oversampling=_RESCORED[layout])
        )
    return [
        QueryRequest(
            limit=_TOP,
            query=Query.Nearest(question.tolist(), using="d"),
            filter=None if account is None else is_account(account),
            params=params,
        )
        for question in questions
    ]


def word_requests(account: str | None, seed: int) -> list[QueryRequest]:
    draw = np.random.default_rng(seed + 1)
    requests = []
    for _ in range(_QUERIES):
        words = words_of(draw)[-6:]
        own = None if account is None else is_account(account)
        requests.append(
            QueryRequest(
                limit=_TOP,
                query=Query.Nearest(SparseVector(words, [1.0] * len(words)), using="w"),
                filter=own,
                params=None if own is None else SearchParams(idf=IdfParams(corpus=own)),
            )
        )
    return requests


def exact(
    vectors: NDArray[np.float32], questions: NDArray[np.float32], account: str
) -> list[set[int]]:
    step = round(1 / _SMALL_SHARE)
    best: list[list[tuple[float, int]]] = [[] for _ in questions]
    for start in range(0, len(vectors), _CHUNK):
        scores = vectors[start : start + _CHUNK] @ questions.T
        is_small = np.arange(start, start + len(scores)) % step == 0
        scores[is_small if account == "large" else ~is_small] = -2.0
        for number, some in enumerate(best):
            own = scores[:, number]
            for place in np.argpartition(-own, _TOP)[:_TOP]:
                some.append((float(own[place]), start + int(place)))
    return [{place for _, place in sorted(some, reverse=True)[:_TOP]} for some in best]


def overlap(found: list[set[int]], wanted: list[set[int]]) -> float:
    return sum(len(a & b) for a, b in zip(found, wanted, strict=True)) / (_TOP * len(wanted))


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def build(folder: Path, layout: str, count: int, seed: int) -> tuple[float, float]:
    """Seconds of CPU that inserting took, and of the clock that optimising took."""
    vectors, _ = made_up(count, seed)
    folder.mkdir(exist_ok=True)
    shard = new_shard(folder / "shard", layout)
    inserting = fill(shard, vectors, seed)
    optimising = 0.0
    if layout in {"graph", "int8-optimised"}:
        began = time.perf_counter()
        shard.optimize()
        optimising = time.perf_counter() - began
    shard.flush()
    shard.close()
    return inserting, optimising


def ask(folder: Path, layout: str, count: int, seed: int, built: tuple[float, float]) -> Figures:
    """In a process of its own, so that memory is what the index takes and not what made it."""
    vectors, questions = made_up(count, seed)
    wanted = [exact(vectors, questions, name) for name in ("large", "small")]
    del vectors
    gc.collect()
    before = resident_mb()
    shard = EdgeShard.load(str(folder / "shard"))
    dense = timed(shard, dense_requests(questions, "large", layout))
    small = timed(shard, dense_requests(questions, "small", layout))
    words = timed(shard, word_requests("large", seed))
    alone_requests = dense_requests(questions, None, layout)
    alone = timed(shard, alone_requests)
    alone_words = timed(shard, word_requests(None, seed))
    disk = sum(each.stat().st_blocks * 512 for each in folder.rglob("*") if each.is_file())
    return Figures(
        layout=layout,
        points=count,
        insert_seconds=built[0],
        optimise_seconds=built[1],
        dense_cpu=dense.cpu,
        dense_p50=dense.p50,
        dense_p95=dense.p95,
        alone_cpu=alone.cpu,
        alone_p50=alone.p50,
        alone_p95=alone.p95,
        alone_15_cpu=cpu_of_calls(shard, alone_requests),
        words_cpu=words.cpu,
        words_p50=words.p50,
        words_p95=words.p95,
        alone_words_cpu=alone_words.cpu,
        small_cpu=small.cpu,
        recall=overlap(dense.found, wanted[0]),
        small_recall=overlap(small.found, wanted[1]),
        disk_mb=disk / 1e6,
        memory_mb=resident_mb() - before,
    )


def one(layout: str, count: int, seed: int, keep: Path | None) -> Figures:
    with tempfile.TemporaryDirectory(prefix="backread-scale-") as scratch:
        folder = (keep or Path(scratch)) / f"{layout}-{count}-{seed}"
        figures = folder.with_suffix(".built")
        if not figures.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            figures.write_text(json.dumps(build(folder, layout, count, seed)))
        built = json.loads(figures.read_text())
        asked = [sys.executable, "-m", "benchmarks.scale", "--ask", str(folder)]
        asked += ["--layouts", layout, "--points", str(count), "--seed", str(seed)]
        asked += ["--built", *map(str, built)]
        answer = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True)
        return Figures(**json.loads(answer.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--layouts", nargs="+", choices=_LAYOUTS, default=["product"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--built", type=float, nargs=2, default=(0.0, 0.0), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.ask is not None:
        layout, count = asked.layouts[0], asked.points[0]
        print(json.dumps(asdict(ask(asked.ask, layout, count, asked.seed, tuple(asked.built)))))
        return
    names = list(Figures.__dataclass_fields__)
    print(" ".join(f"{name:>16}" for name in names), flush=True)
    figures = []
    for count in asked.points:
        for layout in asked.layouts:
            measured = one(layout, count, asked.seed, asked.keep)
            figures.append(measured)
            row = [
                f"{value:16.3f}" if isinstance(value, float) else f"{value!s:>16}"
                for value in asdict(measured).values()
            ]
            print(" ".join(row), flush=True)
    if asked.plot is not None:
        write_plot(asked.plot, [asdict(each) for each in figures])


if __name__ == "__main__":
    main()
