"""How long a search and a whole recall take, and what they cost, at a given number of passages.

    python -m benchmarks.latency [--passages 10000] [--questions 100] [--seed 1]

One account holds all passages, which is the hardest case: nothing is cut off by the tenant. The
index has its owner process, as under `backread up`; CPU time counts both sides. Texts are made up
(`texts.py`). Their vectors are random, not embedded, because embedding 100,000 passages takes
more than an hour: an exact search costs the same whatever the numbers are. Questions are embedded
with the default model.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np

from backread.domain import Principal, Scope
from backread.indexing.vectors import point_of
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.migrate import upgrade
from backread.store.models import Account, Conversation, Message
from backread.store.repositories.indexed import (
    PASSAGES,
    indexed_rows,
    mark_vectors,
    points_to_embed,
)
from backread.store.repositories.passages import PassageRow, replace_passages_bulk
from backread.vectors.index import Collection, IndexFilter, IndexQuery
from backread.vectors.socket_index import is_owner_alive
from backread.vectors.wire import socket_path
from benchmarks.texts import passage_texts, questions
from ingest.indexing import index_lexical
from recall.history import RecallQuery, RecallRequest, recall_chat_history

_PER_CONVERSATION = 20
_CONVERSATIONS_PER_COMMIT = 100
_VECTORS_PER_BATCH = 1_000
_DEPTH = 50
_START = datetime(2023, 1, 1, tzinfo=UTC)
_OWNER = (
    "import sys; from backread.settings import Settings; from backread.vectors.owner import serve; "
    "serve(Settings(home=sys.argv[1]))"
)


class Owner:
    """The index's owner as a child process, and the CPU time it has used."""

    def __init__(self, settings: Settings) -> None:
        program = [sys.executable, "-c", _OWNER, str(settings.home)]
        self._process = subprocess.Popen(program, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not is_owner_alive(socket_path(settings)):
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise SystemExit("the index's owner did not start")
            time.sleep(0.05)

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_megabytes(self) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)


def store_passages(store: Store, owner: Principal, count: int, seed: int) -> None:
    texts = passage_texts(random.Random(seed), count, per_topic=_PER_CONVERSATION)
    chats = range(-(-count // _PER_CONVERSATION))
    for first in chats[::_CONVERSATIONS_PER_COMMIT]:
        rows: dict[str, list[PassageRow]] = {}
        with store.write() as session:
            for number in chats[first : first + _CONVERSATIONS_PER_COMMIT]:
                chat = f"chat{number:022d}"
                said = [text for _, text in zip(range(_PER_CONVERSATION), texts, strict=False)]
                start = _START + timedelta(hours=number * 5)
                rows[chat] = [_passage(chat, place, text, start) for place, text in enumerate(said)]
                session.add(_conversation(owner, chat, start))
                session.flush()
                session.add_all(_messages(owner, chat, rows[chat]))
            session.flush()
            replace_passages_bulk(session, owner.account_id, rows)


def _conversation(owner: Principal, chat: str, start: datetime) -> Conversation:
    return Conversation(
        id=chat,
        account_id=owner.account_id,
        platform="chatgpt",
        external_id=chat,
        capture_id="none",
        parser_version=1,
        title=f"Chat {chat[-6:]}",
        created_at=start,
        first_message_at=start,
        last_message_at=start + timedelta(minutes=_PER_CONVERSATION),
        message_count=_PER_CONVERSATION,
    )


def _passage(chat: str, place: int, text: str, start: datetime) -> PassageRow:
    when = start + timedelta(minutes=place)
    role = "assistant" if place % 2 else "user"
    return PassageRow(
        message_id=f"{chat[-22:]}{place:04d}",
        start_offset=0,
        end_offset=len(text),
        role=role,
        heading=f"{when:%d %B %Y}, {role}",
        text=text,
        token_count=len(text) // 4,
        occurred_at=when,
    )


def _messages(owner: Principal, chat: str, rows: Sequence[PassageRow]) -> list[Message]:
    return [
        Message(
            id=row.message_id,
            account_id=owner.account_id,
            conversation_id=chat,
            external_id=row.message_id,
            position=place,
            on_shown_line=True,
            role=row.role,
            kind="dialogue",
            text=row.text,
            created_at=row.occurred_at,
        )
        for place, row in enumerate(rows)
    ]


def add_random_vectors(kernel: Kernel, owner: Principal, count: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    lexical, dense = kernel.index.lexical_signature, kernel.dense_signature
    with kernel.store.read() as session:
        ids = points_to_embed(
            session, PASSAGES, owner.account_id, words=lexical, dense=dense, limit=count
        )
    for start in range(0, len(ids), _VECTORS_PER_BATCH):
        with kernel.store.read() as session:
            some = ids[start : start + _VECTORS_PER_BATCH]
            rows = indexed_rows(session, PASSAGES, owner.account_id, some)
        vectors = draw.standard_normal((len(rows), kernel.embedder.dimensions))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        points = [
            point_of(row, vector.tolist())
            for row, vector in zip(rows, vectors.astype(np.float32), strict=True)
        ]
        kernel.index.upsert(Collection.PASSAGES, points)
        with kernel.store.write() as session:
            mark_vectors(session, PASSAGES, rows, dense)
    kernel.index.flush()


def own_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(name: str, owner: Owner, calls: Sequence[Callable[[], object]]) -> None:
    """Prints the median and 95th percentile of the clock, and the mean of CPU time, in ms."""
    for call in calls[:5]:
        call()
    clock = []
    own, theirs = own_cpu_seconds(), owner.cpu_seconds()
    for call in calls:
        start = time.perf_counter()
        call()
        clock.append((time.perf_counter() - start) * 1000)
    here = (own_cpu_seconds() - own) * 1000 / len(calls)
    there = (owner.cpu_seconds() - theirs) * 1000 / len(calls)
    p50, p95 = np.percentile(clock, [50, 95])
    print(f"{name:34} {p50:8.1f} {p95:8.1f} {here:10.1f} {there:10.1f}", flush=True)


def run(kernel: Kernel, principal: Principal, owner: Owner, asked: list[str]) -> None:
    wanted = IndexFilter(principal.account_id)
    vectors = kernel.embedder.embed_queries(asked)

    def words(text: str) -> IndexQuery:
        return IndexQuery(wanted, _DEPTH, words=text)

    def meaning(row: int) -> IndexQuery:
        return IndexQuery(wanted, _DEPTH, vector=vectors[row].tolist())

    def ask(*queries: IndexQuery) -> Callable[[], object]:
        return lambda: kernel.index.search(Collection.PASSAGES, queries)

    def recall(*some: str) -> Callable[[], object]:
        request = RecallRequest(queries=[RecallQuery(query=text) for text in some])
        return lambda: recall_chat_history(kernel, principal, request)

    numbered = list(enumerate(asked))
    print(f"{'milliseconds':34} {'p50':>8} {'p95':>8} {'CPU here':>10} {'CPU index':>10}")
    measure("words", owner, [ask(words(text)) for text in asked])
    measure("vector", owner, [ask(meaning(row)) for row, _ in numbered])
    measure(
        "words and vector, one call",
        owner,
        [ask(words(text), meaning(row)) for row, text in numbered],
    )
    measure(
        "embedding a question",
        owner,
        [partial(kernel.embedder.embed_queries, [text]) for text in asked],
    )
    measure("recall_chat_history", owner, [recall(text) for text in asked])
    fifteen = [asked[start : start + 15] for start in range(0, len(asked) - 14, 15)]
    measure("recall_chat_history, 15 queries", owner, [recall(*some) for some in fifteen])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="backread-latency-") as home:
        settings = Settings(home=Path(home))
        kernel = Kernel(settings)
        upgrade(kernel.store)
        owner = Owner(settings)
        try:
            with kernel.store.write() as session:
                account = Account(email="latency@example.org", password_hash="none")
                session.add(account)
                session.flush()
                principal = Principal(account.id, scopes=frozenset(Scope))
            store_passages(kernel.store, principal, asked.passages, asked.seed)
            _ = kernel.index
            started, own, theirs = time.perf_counter(), own_cpu_seconds(), owner.cpu_seconds()
            count = index_lexical(kernel, principal.account_id)
            seconds = time.perf_counter() - started
            print(
                f"{count} passages indexed by their words: {count / seconds:.0f} a second, "
                f"CPU {own_cpu_seconds() - own:.1f} s here, {owner.cpu_seconds() - theirs:.1f} s "
                "index"
            )
            add_random_vectors(kernel, principal, asked.passages, asked.seed)
            run(kernel, principal, owner, questions(random.Random(asked.seed), asked.questions))
            size = sum(path.stat().st_blocks * 512 for path in settings.index_dir.rglob("*"))
            print(f"index on disk {size / 1e6:.0f} MB, owner {owner.peak_megabytes():.0f} MB")
        finally:
            kernel.close()
            owner.stop()


if __name__ == "__main__":
    main()
