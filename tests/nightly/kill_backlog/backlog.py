"""A backlog of real jobs in a data folder, and the count of what they must have made of it."""

import random
from collections import Counter
from pathlib import Path

from sqlalchemy import distinct, func, select, text

from backread.domain import Principal, Scope
from backread.jobs import enqueue
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.models import Account, Capture, Conversation, Import, Job, Message, Passage
from backread.vectors.index import Collection
from ingest.accept import SourceFile, accept_files
from ingest.tasks import indexing
from tests.api.exports import dialogue, zipped

_MESSAGES = 4  # of each conversation
_SHARE_OF_IMPORTS = 0.1
_AT_ONCE = 500
_ENDED = ("done", "failed", "dead", "cancelled")
_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "larch")


class Backlog:
    """`tasks` jobs over `accounts` accounts: a tenth imports a small export each, the others put
    into the search index what that lacks at the time, which the imports keep adding to."""

    def __init__(self, home: Path, *, tasks: int, accounts: int, seed: int) -> None:
        self._settings = Settings(home=home, embedding_model="hashing")
        self._store = Store(self._settings.sqlalchemy_url)
        self._folder = home / "exports"
        self._tasks = tasks
        self._imports = max(1, round(tasks * _SHARE_OF_IMPORTS))
        self._random = random.Random(seed)
        self._accounts = self._make_accounts(accounts)

    def close(self) -> None:
        self._store.close()

    def make(self) -> None:
        """Queues everything; nothing is sent, so the workers find it by themselves."""
        self._folder.mkdir()
        kinds = ["import"] * self._imports + ["index"] * (self._tasks - self._imports)
        self._random.shuffle(kinds)
        for start in range(0, len(kinds), _AT_ONCE):
            with self._store.write() as session:
                for number, kind in enumerate(kinds[start : start + _AT_ONCE], start):
                    account_id = self._accounts[number % len(self._accounts)]
                    if kind == "index":
                        enqueue(session, indexing.EMBED_PASSAGES, account_id=account_id)
                        continue
                    file = self._write_export(number)
                    principal = Principal(account_id, scopes=frozenset(Scope))
                    accept_files(session, principal, [file], route="cli")

    def states(self) -> Counter[str]:
        query = select(Job.state, func.count()).group_by(Job.state)
        with self._store.read() as session:
            return Counter({row.state: int(row[1]) for row in session.execute(query)})

    def ended(self) -> int:
        states = self.states()
        return sum(states[state] for state in _ENDED)

    def is_worked_off(self) -> bool:
        states = self.states()
        return not states["queued"] and not states["running"] and self.ended() >= self._tasks

    def check(self) -> None:
        """Raises AssertionError unless every row is there, right, and there once. The server must
        have ended: this looks into the index itself."""
        states = self.states()
        assert set(states) == {"done"}, states
        expected = {
            Import: self._imports,
            Conversation: self._imports,
            Capture: self._imports,
            Message: _MESSAGES * self._imports,
        }
        with self._store.read() as session:
            counts = {
                table: session.scalar(select(func.count()).select_from(table)) for table in expected
            }
            assert counts == expected, counts
            place = (Passage.message_id, Passage.document, Passage.start_offset)
            places = select(*place).group_by(*place)
            assert not session.execute(places.having(func.count() > 1).limit(1)).all()
            covered = session.scalar(select(func.count(distinct(Passage.message_id))))
            assert covered == expected[Message]
            passages = session.scalar(select(func.count()).select_from(Passage))
            assert session.scalar(text("SELECT count(*) FROM passages_fts")) == passages
            counted = select(Passage.account_id, func.count()).group_by(Passage.account_id)
            by_account = {row.account_id: int(row[1]) for row in session.execute(counted)}
            marks = session.execute(select(Passage.lexical_with, Passage.dense_with).distinct())
            found = {tuple(row) for row in marks}
        self._check_index(by_account, found)

    def _check_index(self, by_account: dict[str, int], marks: set[tuple[str, ...]]) -> None:
        kernel = Kernel(self._settings)
        try:
            assert marks == {(kernel.index.lexical_signature, kernel.dense_signature)}, marks
            for account_id, count in by_account.items():
                assert kernel.index.count(Collection.PASSAGES, account_id) == count
        finally:
            kernel.close()

    def _make_accounts(self, count: int) -> list[str]:
        rows = [
            Account(email=f"person{number}@example.org", password_hash="unused", role="member")
            for number in range(count)
        ]
        with self._store.write() as session:
            session.add_all(rows)
            session.flush()
            return [row.id for row in rows]

    def _write_export(self, number: int) -> SourceFile:
        said = [
            f"{number} {place} {' '.join(self._random.choices(_WORDS, k=12))}"
            for place in range(_MESSAGES)
        ]
        path = self._folder / f"{number}.zip"
        path.write_bytes(zipped(dialogue(*said, identity=f"chat-{number}")))
        return SourceFile(path.name, path, path.stat().st_size)
