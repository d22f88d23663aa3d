"""How the embedded index grows: time, memory, disk and what quantisation would cost.

    nice python -m benchmarks.scale [--points 10000 100000] [--layouts exact graph int8 binary]
        [--seed 1] [--plot docs/images/scale.svg]

Points have made-up vectors in clusters, as texts have, and a sparse vector of 40 words. One
account holds all but 0.5 % of them; that half percent is a small account of its own. `exact` is
how the product keeps them. The others are built once by the library's `optimize()`, which stops
the process meanwhile: `graph` is HNSW, `int8` and `binary` are quantised with rescoring. Recall is
against exact search over the same vectors. Times are CPU milliseconds of the one process that
holds the index, and, for p95, the clock.
"""

import argparse
import json
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
    Modifier,
    Point,
    QuantizationSearchParams,
    Query,
    QueryRequest,
    ScalarQuantizationConfig,
    ScalarType,
    SearchParams,
    SparseVector,
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


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds, megabytes, shares of one."""

    layout: str
    points: int
    insert_seconds: float
    optimise_seconds: float
    dense_cpu: float
    dense_p95: float
    words_cpu: float
    words_p95: float
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
    quantised: ScalarQuantizationConfig | BinaryQuantizationConfig | None = None
    if layout == "int8":
        quantised = ScalarQuantizationConfig(ScalarType.Int8, quantile=0.99, always_ram=True)
    elif layout == "binary":
        quantised = BinaryQuantizationConfig(always_ram=True)
    config = EdgeConfig(
        vectors={
            "d": EdgeVectorParams(
                _DIMENSIONS,
                Distance.Cosine,
                datatype=VectorStorageDatatype.Float16,
                quantization_config=quantised,
            )
        },
        sparse_vectors={"w": EdgeSparseVectorParams(modifier=Modifier.Idf)},
        hnsw_config=HnswIndexConfig(
            m=0, ef_construct=100, full_scan_threshold=10_000, payload_m=16
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


def timed(shard: EdgeShard, requests: list[QueryRequest]) -> tuple[float, float, list[set[int]]]:
    """CPU a query, p95 of the clock, both in ms, and what was found."""
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
    return used, float(np.percentile(clock, 95)), found


def dense_requests(questions: NDArray[np.float32], account: str, layout: str) -> list[QueryRequest]:
    params = None
    if layout in {"int8", "binary"}:
        oversampling = 2.0 if layout == "int8" else 4.0
        params = SearchParams(
            quantization=QuantizationSearchParams(rescore=True, oversampling=oversampling)
        )
    return [
        QueryRequest(
            limit=_TOP,
            query=Query.Nearest(question.tolist(), using="d"),
            filter=is_account(account),
            params=params,
        )
        for question in questions
    ]


def word_requests(account: str, seed: int) -> list[QueryRequest]:
    draw = np.random.default_rng(seed + 1)
    requests = []
    for _ in range(_QUERIES):
        words = words_of(draw)[-6:]
        requests.append(
            QueryRequest(
                limit=_TOP,
                query=Query.Nearest(SparseVector(words, [1.0] * len(words)), using="w"),
                filter=is_account(account),
                params=SearchParams(idf=IdfParams(corpus=is_account(account))),
            )
        )
    return requests


def exact(
    vectors: NDArray[np.float32], questions: NDArray[np.float32], account: str
) -> list[set[int]]:
    step = round(1 / _SMALL_SHARE)
    places = np.arange(len(vectors))
    mine = places[places % step == 0] if account == "small" else places[places % step != 0]
    found = []
    for question in questions:
        scores = vectors[mine] @ question
        found.append({int(mine[each]) for each in np.argpartition(-scores, _TOP - 1)[:_TOP]})
    return found


def overlap(found: list[set[int]], wanted: list[set[int]]) -> float:
    return sum(len(a & b) for a, b in zip(found, wanted, strict=True)) / (_TOP * len(wanted))


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def build(folder: Path, layout: str, count: int, seed: int) -> tuple[float, float]:
    """Seconds of CPU that inserting took, and of the clock that optimising took."""
    vectors, _ = made_up(count, seed)
    shard = new_shard(folder / "shard", layout)
    inserting = fill(shard, vectors, seed)
    optimising = 0.0
    if layout != "exact":
        began = time.perf_counter()
        shard.optimize()
        optimising = time.perf_counter() - began
    shard.flush()
    shard.close()
    return inserting, optimising


def ask(folder: Path, layout: str, count: int, seed: int, built: tuple[float, float]) -> Figures:
    """In a process of its own, so that memory is what the index takes and not what made it."""
    before = resident_mb()
    shard = EdgeShard.load(str(folder / "shard"))
    vectors, questions = made_up(count, seed)
    dense = timed(shard, dense_requests(questions, "large", layout))
    small = timed(shard, dense_requests(questions, "small", layout))
    words = timed(shard, word_requests("large", seed))
    held = resident_mb() - before - vectors.nbytes / 2**20
    disk = sum(each.stat().st_blocks * 512 for each in folder.rglob("*") if each.is_file())
    return Figures(
        layout=layout,
        points=count,
        insert_seconds=built[0],
        optimise_seconds=built[1],
        dense_cpu=dense[0],
        dense_p95=dense[1],
        words_cpu=words[0],
        words_p95=words[1],
        small_cpu=small[0],
        recall=overlap(dense[2], exact(vectors, questions, "large")),
        small_recall=overlap(small[2], exact(vectors, questions, "small")),
        disk_mb=disk / 1e6,
        memory_mb=held,
    )


def one(layout: str, count: int, seed: int) -> Figures:
    with tempfile.TemporaryDirectory(prefix="backread-scale-") as name:
        folder = Path(name)
        built = build(folder, layout, count, seed)
        asked = [sys.executable, "-m", "benchmarks.scale", "--ask", name, "--layouts", layout]
        asked += ["--points", str(count), "--seed", str(seed), "--built", *map(str, built)]
        answer = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True)
        return Figures(**json.loads(answer.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--layouts", nargs="+", default=["exact", "graph", "int8", "binary"])
    parser.add_argument("--seed", type=int, default=1)
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
            measured = one(layout, count, asked.seed)
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
