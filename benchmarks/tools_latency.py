"""How long each MCP tool takes, at a given number of passages and memories.

    python -m benchmarks.tools_latency [--passages 100000] [--memories 10000] [--calls 50]
    python -m benchmarks.tools_latency --keep DIR   # makes the data there; called again, measures

Tools are called as the server calls them, behind HTTP and the protocol: `Tool.run` with checked
arguments. One account holds everything. The index has its owner process, as under `backread up`;
CPU time counts both sides. Texts are made up, vectors random (`latency.py` says why); what is
stored and edited while it is measured is embedded with the default model. Categories, overview and
files are asked for as on a fresh server, before their background work has run.
"""

import argparse
import itertools
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import insert, select

from api.mcp_server.tools import TOOLS
from backread.domain import Principal, Scope
from backread.identity import new_id, statement_hash
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.migrate import upgrade
from backread.store.models import Account, Memory
from backread.store.repositories.memories import fresh_point_id
from backread.vectors.index import Collection
from benchmarks.latency import Owner, add_random_vectors, measure, store_passages
from benchmarks.texts import passage_texts, questions
from ingest.indexing import index_lexical
from recall.memories import create_bucket, list_buckets, memory_point

_EMAIL = "latency@example.org"
_BUCKETS = 10
_AT_A_TIME = 1_000


def store_memories(kernel: Kernel, owner: Principal, count: int, seed: int) -> None:
    """Writes and indexes them."""
    draw = np.random.default_rng(seed)
    buckets = [create_bucket(kernel, owner, f"Bucket {n}").bucket_id for n in range(_BUCKETS)]
    texts = passage_texts(random.Random(seed + 1), count)
    places = itertools.cycle(buckets)
    while some := list(itertools.islice(texts, _AT_A_TIME)):
        now = utcnow()
        rows = [
            {
                "id": new_id(),
                "account_id": owner.account_id,
                "bucket_id": next(places),
                "text": text[:300],
                "text_hash": statement_hash(f"{number} {text}"),
                "point_id": fresh_point_id(),
                "dense_with": kernel.dense_signature,
                "created_at": now,
                "updated_at": now,
            }
            for number, text in enumerate(some)
        ]
        with kernel.store.write() as session:
            session.execute(insert(Memory), rows)
        vectors = draw.standard_normal((len(rows), kernel.embedder.dimensions))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        with kernel.store.read() as session:
            found = session.scalars(select(Memory).where(Memory.id.in_([r["id"] for r in rows])))
            points = [
                memory_point(memory, vector.tolist())
                for memory, vector in zip(found, vectors.astype(np.float32), strict=True)
            ]
        kernel.index.upsert(Collection.MEMORIES, points)
    kernel.index.flush()


def calls_of(
    kernel: Kernel, owner: Principal, buckets: list[int], count: int, seed: int
) -> Iterator[tuple[str, list[Callable[[], object]]]]:
    """Each tool's name with the calls to measure."""
    asked = questions(random.Random(seed), count)
    chat = f"chat{0:022d}"
    with kernel.store.read() as session:
        query = select(Memory.id).where(Memory.account_id == owner.account_id)
        ids = list(session.scalars(query.order_by(Memory.id).limit(count)))
    tools = {tool.name: tool for tool in TOOLS}

    def run(name: str, arguments: dict[str, Any]) -> Any:
        tool = tools[name]
        return tool.run(kernel, owner, tool.arguments.model_validate(arguments)).result

    def each(name: str, given: list[dict[str, Any]]) -> list[Callable[[], object]]:
        return [lambda arguments=one: run(name, arguments) for one in given]  # type: ignore[misc]

    def forget_and_undo(memory_id: str) -> None:
        gone = run("forget_memories", {"memoryIds": [memory_id]})
        run("undo_forget", {"undoId": gone.undo_id})

    same: list[dict[str, Any]] = [{}] * count
    yield "recall_chat_history", each("recall_chat_history", [{"query": one} for one in asked])
    span = [{"after": "2023-02", "before": "2023-03"}] * count
    yield "recall_chat_history, a span", each("recall_chat_history", span)
    of_chat = [{"conversationId": chat}] * count
    for name in ("get_conversation_summary", "get_full_conversation"):
        yield name, each(name, of_chat)
    yield "export_conversation", each("export_conversation", of_chat)
    yield "search_memories", each("search_memories", [{"query": one} for one in asked])
    yield "get_memories_and_buckets", each("get_memories_and_buckets", same)
    yield "get_memories_and_buckets, all", each("get_memories_and_buckets", [{"all": True}] * count)
    new = [{"text": f"Fact {n}: {one}", "bucketId": buckets[0]} for n, one in enumerate(asked)]
    yield "store_memory", each("store_memory", new)
    edits = [{"memoryId": one, "text": f"Edited {n}."} for n, one in enumerate(ids)]
    yield "update_or_move_memories, edit", each("update_or_move_memories", edits)
    moves = [{"memoryIds": ids, "bucketId": bucket} for bucket in (buckets * count)[:count]]
    yield f"update_or_move_memories, {len(ids)}", each("update_or_move_memories", moves)
    yield "list_buckets", each("list_buckets", same)
    yield "create_bucket", each("create_bucket", [{"name": "Bucket 1"}] * count)
    of_bucket = [{"bucketId": buckets[0]}] * count
    yield "list_bucket_categories", each("list_bucket_categories", of_bucket)
    yield "chat_history_overview", each("chat_history_overview", same)
    yield "search_uploaded_files", each("search_uploaded_files", [{"query": one} for one in asked])
    yield "search", each("search", [{"query": one} for one in asked])
    yield "fetch", each("fetch", [{"id": chat}] * count)
    yield (
        "forget_memories, undo_forget",
        [lambda one=one: forget_and_undo(one) for one in ids],  # type: ignore[misc]
    )


@contextmanager
def running(home: Path) -> Iterator[tuple[Kernel, Owner]]:
    settings = Settings(home=home)
    kernel = Kernel(settings)
    upgrade(kernel.store)
    owner = Owner(settings)
    try:
        yield kernel, owner
    finally:
        kernel.close()
        owner.stop()


def prepare(kernel: Kernel, passages: int, memories: int, seed: int) -> None:
    with kernel.store.write() as session:
        account = Account(email=_EMAIL, password_hash="none")
        session.add(account)
        session.flush()
        principal = Principal(account.id, scopes=frozenset(Scope), client_id="bench")
    started = time.perf_counter()
    store_passages(kernel.store, principal, passages, seed)
    index_lexical(kernel, principal.account_id)
    add_random_vectors(kernel, principal, passages, seed)
    store_memories(kernel, principal, memories, seed)
    seconds = time.perf_counter() - started
    print(f"{passages} passages, {memories} memories, made in {seconds:.0f} s")


def kept(kernel: Kernel) -> tuple[Principal, list[int]]:
    """Whose the data is, and the buckets of its memories."""
    with kernel.store.read() as session:
        account_id = session.scalars(select(Account.id).where(Account.email == _EMAIL)).one()
    principal = Principal(account_id, scopes=frozenset(Scope), client_id="bench")
    return principal, [each.bucket_id for each in list_buckets(kernel, principal).buckets]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", help="parts of tools' names")
    parser.add_argument(
        "--keep",
        type=Path,
        help="a folder for the data: made there and left when it is not there, else a copy of it "
        "is measured",
    )
    asked = parser.parse_args()
    if asked.keep is not None and not asked.keep.exists():
        with running(asked.keep) as (kernel, _):
            prepare(kernel, asked.passages, asked.memories, asked.seed)
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        if asked.keep is not None:
            shutil.copytree(asked.keep, home)
        with running(home) as (kernel, owner):
            if asked.keep is None:
                prepare(kernel, asked.passages, asked.memories, asked.seed)
            principal, buckets = kept(kernel)
            print(f"{'tool':34} {'p50 ms':>8} {'p95 ms':>8} {'CPU here':>10} {'CPU index':>10}")
            for name, calls in calls_of(kernel, principal, buckets, asked.calls, asked.seed):
                if not asked.only or any(part in name for part in asked.only):
                    measure(name, owner, calls)


if __name__ == "__main__":
    main()
