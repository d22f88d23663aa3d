"""How well passages are found in each language, and from one language in another.

    python -m benchmarks.languages --data /path/to/xquad [--model minilm] [--every 4] [--home DIR]
        [--vectors FILE]

`--data` holds `docs.jsonl.gz` and `queries.jsonl.gz` of XQuAD: the same paragraphs and questions
in several languages. Each language is an account, each paragraph a chat of its own, and questions
go through `retrieve`, as a search does. A question counts when its paragraph is among the first
ten. `words` and `meaning` are the two legs alone; across languages a question is asked of the
account of another language. Every n-th question is asked (`--every`). `--vectors` keeps vectors in
a file, so that a next run need not embed.
"""

import argparse
import gzip
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from backread.domain import Principal, Scope
from backread.indexing import enqueue_embedding, index_words
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.migrate import upgrade
from backread.store.models import Account, Conversation, Message, Passage
from backread.store.repositories.indexed import PASSAGES
from backread.store.repositories.passages import PassageRow, replace_passages_bulk
from backread.vectors.index import Collection, IndexFilter, IndexQuery
from benchmarks.recall_quality.cached_vectors import CachedModels
from ingest import tasks  # noqa: F401 - registers the jobs
from ingest.passages import cut
from recall.query import understand
from recall.retrieval import retrieve

_HITS = 10
_DEPTH = 40  # passages to look at for ten different paragraphs


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    gold: frozenset[str]


def read(path: Path) -> list[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def store(kernel: Kernel, paragraphs: dict[str, dict[str, str]]) -> dict[str, Principal]:
    """An account a language; returns them by language."""
    accounts = {}
    for language, texts in paragraphs.items():
        with kernel.store.write() as session:
            account = Account(email=f"{language}@example.org", password_hash="none")
            session.add(account)
            session.flush()
            rows = {}
            for number, (name, text) in enumerate(texts.items()):
                chat = f"{language}{number:024d}"
                session.add(
                    Conversation(
                        id=chat,
                        account_id=account.id,
                        platform="chatgpt",
                        external_id=name,
                        capture_id="none",
                        parser_version=1,
                        title="",
                        message_count=1,
                    )
                )
                session.flush()
                session.add(
                    Message(
                        id=chat,
                        account_id=account.id,
                        conversation_id=chat,
                        external_id=name,
                        position=0,
                        on_shown_line=True,
                        role="user",
                        kind="dialogue",
                        text=text,
                    )
                )
                rows[chat] = [
                    PassageRow(
                        chat, start, end, "user", "", text[start:end], (end - start) // 4, None
                    )
                    for start, end in cut(text)
                ]
            session.flush()
            replace_passages_bulk(session, account.id, rows)
            accounts[language] = Principal(account.id, scopes=frozenset(Scope))
        index_words(kernel, PASSAGES, accounts[language].account_id)
        with kernel.store.write() as session:
            enqueue_embedding(session, accounts[language].account_id, PASSAGES.collection)
    started = time.process_time()
    run_pending(kernel)
    print(f"embedded in {time.process_time() - started:.0f} s CPU", flush=True)
    return accounts


Finder = Callable[[Principal, str], list[str]]


def finders(kernel: Kernel) -> dict[str, Finder]:
    """Ways to ask; each returns names of paragraphs, best first."""
    with kernel.store.read() as session:
        rows = session.execute(
            select(Passage.id, Conversation.external_id).join(
                Conversation, Conversation.id == Passage.conversation_id
            )
        )
        name_of = {point: name for point, name in rows}  # noqa: C416 - of a Row's two

    def leg(query: Callable[[str, IndexFilter], IndexQuery]) -> Finder:
        def find(principal: Principal, text: str) -> list[str]:
            asked = query(text, IndexFilter(principal.account_id))
            (found,) = kernel.index.search(Collection.PASSAGES, [asked])
            return list(dict.fromkeys(name_of[each.id] for each in found))[:_HITS]

        return find

    def words(text: str, within: IndexFilter) -> IndexQuery:
        question = understand(text, asked_at=utcnow(), zone="UTC")
        return IndexQuery(within, _DEPTH, words=question.lexical)

    def meaning(text: str, within: IndexFilter) -> IndexQuery:
        question = understand(text, asked_at=utcnow(), zone="UTC")
        vector = kernel.embedder.embed_queries([question.dense])[0].tolist()
        return IndexQuery(within, _DEPTH, vector=vector)

    def product(principal: Principal, text: str) -> list[str]:
        question = understand(text, asked_at=utcnow(), zone="UTC")
        (found,) = retrieve(kernel, principal, [question], limit=_DEPTH)
        return list(dict.fromkeys(name_of[each.id] for each in found.passages))[:_HITS]

    return {"words": leg(words), "meaning": leg(meaning), "both": product}


def recall_at_10(find: Finder, principal: Principal, asked: Sequence[Question]) -> float:
    hits = sum(bool(each.gold & set(find(principal, each.text))) for each in asked)
    return hits / len(asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--vectors", type=Path)
    asked = parser.parse_args()
    paragraphs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in read(asked.data / "docs.jsonl.gz"):
        paragraphs[str(row["conv"])][str(row["msg"])] = str(row["text"])
    by_language: dict[str, list[Question]] = defaultdict(list)
    for row in read(asked.data / "queries.jsonl.gz")[:: asked.every]:
        gold = frozenset(map(str, row["gold_msgs"]))  # type: ignore[call-overload]
        by_language[str(row["conv"])].append(Question(str(row["text"]), gold))
    with tempfile.TemporaryDirectory(prefix="backread-languages-") as home:
        kernel = Kernel(Settings(home=asked.home or Path(home), embedding_model=asked.model))
        upgrade(kernel.store)
        if asked.vectors:
            kernel.models = CachedModels(kernel, asked.vectors)
        accounts = store(kernel, paragraphs)
        ways = finders(kernel)
        print(f"model {kernel.embedder.signature}")
        print(f"{'asked':>6} {'found':>6} {'questions':>9}" + "".join(f"{way:>9}" for way in ways))
        for spoken, questions in by_language.items():
            for written, principal in accounts.items():
                figures = [recall_at_10(find, principal, questions) for find in ways.values()]
                row_text = "".join(f"{figure:9.3f}" for figure in figures)
                print(f"{spoken:>6} {written:>6} {len(questions):9}{row_text}", flush=True)
        kernel.close()


if __name__ == "__main__":
    main()
