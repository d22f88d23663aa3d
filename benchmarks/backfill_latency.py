"""What a backfill costs those who use the server meanwhile: answers of its interface at rest and
while the vectors of an archive are made, in one run.

    python -m benchmarks.backfill_latency [--messages 4000] [--requests 400] [--seed 1]
    python -m benchmarks.backfill_latency --home FOLDER [--prepare]

A whole `backread up` with the default model on SQLite. One account holds a made-up archive. The
same requests are sent one after another: a list, a conversation, a search with its embedding. First
with nothing in the queue; then again, while the background worker embeds everything anew. The
target is a p95 of at most twice that at rest. Bringing the archive in takes longer than measuring:
`--prepare` does that alone, and a later call with the same `--home` measures.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from sqlalchemy import func, select, update

from api.accounts.sessions import cookie_name, create_session
from backread.domain import Principal, Scope
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.models import Account, Conversation, Job, Passage
from benchmarks.synthetic_archive import write_archive
from benchmarks.texts import questions
from ingest.accept import SourceFile, accept_files
from ingest.indexing import enqueue_embedding

_BYTES_PER_MESSAGE = 1_900
_START_SECONDS = 120.0
_REST_SECONDS = 1800.0
_TARGET = 2.0


@dataclass
class Times:
    """Milliseconds of each kind of request."""

    by_kind: dict[str, list[float]] = field(default_factory=dict)

    def add(self, kind: str, seconds: float) -> None:
        self.by_kind.setdefault(kind, []).append(1000 * seconds)

    def p(self, percent: int, kind: str) -> float:
        return statistics.quantiles(self.by_kind[kind], n=100)[percent - 1]


class Server:
    def __init__(self, home: Path) -> None:
        self._output = home / "up.out"
        environment = {
            **os.environ,
            "BACKREAD_HOME": str(home),
            "BACKREAD_CLIENT_DOCUMENTS": "off",
        }
        with open(self._output, "wb") as out, open(home / "up.err", "wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "backread", "up", "--port", "0", "--json"],
                env=environment,
                stdout=out,
                stderr=errors,
            )
        _wait(lambda: b"\n" in self._output.read_bytes(), _START_SECONDS, "the first page")
        self.url = str(json.loads(self._output.read_bytes().splitlines()[0])["url"])

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)


class Archive:
    def __init__(self, settings: Settings, path: Path) -> None:
        self._store = Store(settings.sqlalchemy_url)
        with self._store.write() as session:
            owner = session.scalar(select(Account))
            is_new = owner is None
            if owner is None:
                owner = Account(email="ada@example.org", password_hash="unused", role="owner")
                session.add(owner)
                session.flush()
            self._account_id = owner.id
            self.cookies = {cookie_name(settings): create_session(session, owner)}
            if is_new:
                principal = Principal(owner.id, scopes=frozenset(Scope))
                file = SourceFile(path.name, path, path.stat().st_size)
                accept_files(session, principal, [file], route="cli")

    def close(self) -> None:
        self._store.close()

    def is_at_rest(self) -> bool:
        query = select(func.count()).where(Job.state.in_(("queued", "running")))
        with self._store.read() as session:
            return not session.scalars(query).one()

    def left(self) -> int:
        query = select(func.count()).where(Passage.dense_with == "")
        with self._store.read() as session:
            return session.scalars(query).one()

    def conversation_ids(self) -> list[str]:
        with self._store.read() as session:
            return list(session.scalars(select(Conversation.id)))

    def forget_vectors(self) -> None:
        """All vectors are made anew by the background worker, a sweep later."""
        with self._store.write() as session:
            session.execute(update(Passage).values(dense_with=""))
            enqueue_embedding(session, self._account_id)


def measure(
    client: httpx.Client,
    ids: list[str],
    count: int,
    seed: int,
    goes_on: Callable[[], bool] = lambda: True,
) -> Times:
    chosen = random.Random(seed)
    asked = questions(chosen, count)
    times = Times()
    for number in range(count):
        if number % 10 == 0 and not goes_on():
            break
        for kind, path, query in (
            ("list", "/api/v1/conversations", {}),
            ("conversation", f"/api/v1/conversations/{chosen.choice(ids)}", {}),
            ("search", "/api/v1/search", {"q": asked[number]}),
        ):
            began = time.perf_counter()
            client.get(path, params=query).raise_for_status()
            times.add(kind, time.perf_counter() - began)
    return times


def _wait(condition: Callable[[], bool], seconds: float, what: str) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise SystemExit(f"{what} did not come")
        time.sleep(0.2)


def run(home: Path, messages: int, requests: int, seed: int, *, only_prepare: bool) -> None:
    path = home / "export.zip"
    if not path.exists():
        write_archive(path, "chatgpt", messages * _BYTES_PER_MESSAGE, seed=seed)
    server = Server(home)
    archive = Archive(Settings(home=home, public_url=server.url), path)
    try:
        _wait(lambda: bool(archive.conversation_ids()), _REST_SECONDS, "the import")
        _wait(archive.is_at_rest, _REST_SECONDS, "the end of the first backfill")
        if only_prepare:
            return
        ids = archive.conversation_ids()
        with httpx.Client(base_url=server.url, cookies=archive.cookies, timeout=60) as client:
            measure(client, ids, 20, seed + 1)  # loads what loads once
            idle = measure(client, ids, requests, seed)
            archive.forget_vectors()
            before = archive.left()
            _wait(lambda: archive.left() < before, 60, "the backfill's first step")
            busy = measure(client, ids, requests, seed, goes_on=lambda: archive.left() > 0)
            embedded = before - archive.left()
    finally:
        archive.close()
        server.stop()
    print(f"{before:,} passages, {embedded:,} of them embedded while it was asked")
    for kind in idle.by_kind:
        ratio = busy.p(95, kind) / idle.p(95, kind)
        print(
            f"{kind:<13} {len(busy.by_kind[kind]):>5} times   p50 {idle.p(50, kind):6.1f} → "
            f"{busy.p(50, kind):6.1f} ms   p95 {idle.p(95, kind):6.1f} → {busy.p(95, kind):6.1f} ms"
            f"   {ratio:.2f}× {'' if ratio <= _TARGET else 'missed'}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=4_000)
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--home", type=Path, help="a data folder to go on in; default: a new one")
    parser.add_argument("--prepare", action="store_true", help="bring the archive in, then end")
    chosen = parser.parse_args()
    how = (chosen.messages, chosen.requests, chosen.seed)
    if chosen.home is not None:
        chosen.home.mkdir(parents=True, exist_ok=True)
        run(chosen.home, *how, only_prepare=chosen.prepare)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), *how, only_prepare=False)


if __name__ == "__main__":
    main()
