"""How long a chat that comes in takes to be found.

    python -m benchmarks.searchable_delay --home FOLDER [--times 20] [--megabytes 10]

`FOLDER` is what `python -m benchmarks.backfill_latency --home FOLDER --prepare` made: an account
with an archive. A whole `backread up`, the default model, SQLite. A chat of six messages, each
with words that nobody else says, is sent as a script sends it, by `POST /api/v1/imports`; the
clock starts when that was answered. It stops when `GET /api/v1/search` finds the words of the last
message, and again when the chat's last vector is in. The same is done with an export of some size.
First at rest, then while the vectors of the whole archive are made anew.
"""

import argparse
import io
import json
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx
from sqlalchemy import func, select

from api.accounts.personal_tokens import make_token
from backread.domain import Scope
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.models import Account, Conversation, Passage
from benchmarks.backfill_latency import Archive, Server
from benchmarks.synthetic_archive import ChatMaker

_LOOK_SECONDS = 0.02
_MOST_SECONDS = 900.0
_TURNS = 6


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds from the answer to the upload until a search finds the words, and until the last
    vector is in; None where that was not waited for."""

    words: float
    vectors: float | None


class Sender:
    def __init__(self, client: httpx.Client, store: Store, seed: int) -> None:
        self._client = client
        self._store = store
        self._draw = random.Random(seed)

    def chat(self, *, with_vectors: bool) -> Delay:
        """Sends one chat and waits for it."""
        name = f"sent-{self._draw.getrandbits(60):x}"
        marker = "".join(self._draw.choices("bcdfglmnprstvz", k=14))
        body = json.dumps([_chat(name, marker)]).encode()
        return self._send("chat.json", io.BytesIO(body), marker, [name], with_vectors=with_vectors)

    def export(self, path: Path, names: list[str], marker: str) -> Delay:
        with open(path, "rb") as file:
            return self._send(path.name, file, marker, names, with_vectors=False)

    def _send(
        self, name: str, file: IO[bytes], marker: str, chats: list[str], *, with_vectors: bool
    ) -> Delay:
        self._client.post("/api/v1/imports", files={"files": (name, file)}).raise_for_status()
        sent = time.monotonic()
        words = _seconds_until(lambda: self._finds(marker), sent)
        vectors = None
        if with_vectors:
            vectors = _seconds_until(lambda: not self._lacking(chats), sent)
        return Delay(words, vectors)

    def _finds(self, marker: str) -> bool:
        answer = self._client.get("/api/v1/search", params={"q": marker}).raise_for_status()
        return any(marker in json.dumps(hit) for hit in answer.json()["hits"])

    def _lacking(self, chats: list[str]) -> int:
        query = (
            select(func.count())
            .select_from(Passage)
            .join(Conversation, Conversation.id == Passage.conversation_id)
            .where(Conversation.external_id.in_(chats), Passage.dense_with == "")
        )
        with self._store.read() as session:
            return session.scalars(query).one()


def _chat(name: str, marker: str) -> dict[str, object]:
    """A chat in ChatGPT's form that was had just now."""
    now = time.time()
    mapping: dict[str, object] = {"root": {"id": "root", "parent": None, "children": ["m0"]}}
    for number in range(_TURNS):
        mapping[f"m{number}"] = {
            "id": f"m{number}",
            "parent": f"m{number - 1}" if number else "root",
            "children": [f"m{number + 1}"] if number + 1 < _TURNS else [],
            "message": {
                "id": f"{name}-{number}",
                "author": {"role": "assistant" if number % 2 else "user"},
                "create_time": now + number,
                "content": {
                    "content_type": "text",
                    "parts": [f"What of the {marker} in step {number}? " + "It stands there. " * 9],
                },
            },
        }
    return {
        "id": name,
        "conversation_id": name,
        "title": f"About {marker}",
        "create_time": now,
        "update_time": now + _TURNS,
        "current_node": f"m{_TURNS - 1}",
        "mapping": mapping,
    }


def _seconds_until(condition: Callable[[], bool], since: float) -> float:
    while not condition():
        if time.monotonic() - since > _MOST_SECONDS:
            raise SystemExit("it was never found")
        time.sleep(_LOOK_SECONDS)
    return time.monotonic() - since


def _token(store: Store) -> str:
    with store.write() as session:
        account_id = session.scalars(select(Account.id)).one()
        return make_token(
            session, account_id, name="benchmark", scopes=[each.value for each in Scope], days=1
        )


def _print(kind: str, delays: list[Delay]) -> None:
    words = sorted(each.words for each in delays)
    vectors = sorted(each.vectors for each in delays if each.vectors is not None)
    told = f"{kind:<26} {len(words):>3} times   words: median {statistics.median(words):6.2f} s, "
    told += f"longest {words[-1]:6.2f}"
    if vectors:
        told += f"   vectors: median {statistics.median(vectors):6.2f}, longest {vectors[-1]:6.2f}"
    print(told, flush=True)


def run(home: Path, times: int, megabytes: int, seed: int) -> None:
    server = Server(home)
    settings = Settings(home=home, public_url=server.url)
    archive = Archive(settings, home / "export.zip")
    store = Store(settings.sqlalchemy_url)
    headers = {"Authorization": f"Bearer {_token(store)}"}
    try:
        with httpx.Client(base_url=server.url, headers=headers, timeout=120) as client:
            sender = Sender(client, store, seed)
            _seconds_until(archive.is_at_rest, time.monotonic())
            sender.chat(with_vectors=True)  # loads what loads once
            _print("a chat, at rest", [sender.chat(with_vectors=True) for _ in range(times)])
            _seconds_until(archive.is_at_rest, time.monotonic())
            _print(f"{megabytes} MB, at rest", [_export(sender, home, megabytes, seed + 1)])
            archive.forget_vectors()
            lacking = archive.left()
            _seconds_until(lambda: archive.left() < lacking, time.monotonic())
            during = [sender.chat(with_vectors=number % 5 == 0) for number in range(times)]
            _print("a chat, in a backfill", during)
            _print(f"{megabytes} MB, in a backfill", [_export(sender, home, megabytes, seed + 2)])
            print(f"{archive.left():,} passages were still without vectors at the end")
    finally:
        store.close()
        archive.close()
        server.stop()


def _export(sender: Sender, home: Path, megabytes: int, seed: int) -> Delay:
    """Made-up chats, and a last one with a word of its own that is waited for."""
    path = home / f"export-{seed}.json"
    marker = f"lastof{seed}x{random.Random(seed).getrandbits(40):x}"
    size = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write("[")
        for chat, _ in ChatMaker("chatgpt", seed).conversations():
            size += file.write(json.dumps(chat, ensure_ascii=False) + ",")
            if size >= megabytes * 1_000_000:
                break
        file.write(json.dumps(_chat(f"last-{seed}", marker)) + "]")
    return sender.export(path, [f"last-{seed}"], marker)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--megabytes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    chosen = parser.parse_args()
    run(chosen.home, chosen.times, chosen.megabytes, chosen.seed)


if __name__ == "__main__":
    main()
