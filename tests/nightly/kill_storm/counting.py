"""Counts what a data folder holds, against what was put into it."""

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import distinct, func, select, text

from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.models import (
    Account,
    Capture,
    Conversation,
    Import,
    ImportItem,
    Message,
    Passage,
)
from backread.vectors.index import Collection
from benchmarks.synthetic_archive import Written
from ingest.accept import FINISHED_STATES, SourceFile, accept_files


class Archive:
    """The database beside a server that is being killed: reads it, and only adds imports."""

    def __init__(self, home: Path) -> None:
        self._settings = Settings(home=home, embedding_model="hashing")
        self._store = Store(self._settings.sqlalchemy_url)
        self._account_id = ""
        self._conversations = 0
        self._messages = 0

    def close(self) -> None:
        self._store.close()

    def expect(self, written: Written) -> None:
        self._conversations += written.conversations
        self._messages += written.messages

    def queue(self, path: Path) -> str:
        """Asks for an import as a command would; nobody but the server will run it."""
        with self._store.write() as session:
            if not self._account_id:
                owner = Account(email="ada@example.org", password_hash="unused", role="owner")
                session.add(owner)
                session.flush()
                self._account_id = owner.id
            principal = Principal(self._account_id, scopes=frozenset(Scope))
            file = SourceFile(path.name, path, path.stat().st_size)
            return accept_files(session, principal, [file], route="cli")

    def progress(self, import_id: str) -> int:
        return self._report(import_id).found

    def has_ended(self, import_id: str) -> bool:
        return self._report(import_id).state in FINISHED_STATES

    def is_embedded(self) -> bool:
        """Whether every passage is in the index with words and vector. All that is compared is
        that the marks agree; `check_index` looks at the index itself."""
        with self._store.read() as session:
            marks = session.execute(
                select(Passage.lexical_with, Passage.dense_with).distinct()
            ).all()
        return len(marks) == 1 and all(marks[0])

    def check_import(self, import_id: str, written: Written) -> None:
        report = self._report(import_id)
        assert report.state == "readable", (report.state, report.error_message)
        parts = (report.new, report.updated, report.unchanged, report.skipped, report.failed)
        assert parts == (written.conversations, 0, 0, 0, 0), parts
        assert report.found == sum(parts)
        assert report.messages_new == written.messages
        self._check_items(report)

    def check_nothing_new(self, import_id: str, written: Written) -> None:
        report = self._report(import_id)
        assert report.unchanged == report.found == written.conversations, vars(report)
        assert report.messages_new == 0
        self._check_items(report)

    def check_rows(self) -> None:
        """Nothing lost, nothing twice."""
        expected: Mapping[str, int] = {
            "conversations": self._conversations,
            "captures": self._conversations,
            "messages": self._messages,
        }
        assert self._counts() == expected
        with self._store.read() as session:
            place = (Passage.message_id, Passage.document, Passage.start_offset)
            doubled = select(*place, func.count()).group_by(*place)
            twice = session.execute(doubled.having(func.count() > 1).limit(5)).all()
            assert not twice, twice
            with_passage = session.scalar(select(func.count(distinct(Passage.message_id))))
            assert with_passage == self._messages
            passages = session.scalar(select(func.count()).select_from(Passage))
            searchable = session.scalar(text("SELECT count(*) FROM passages_fts"))
            assert searchable == passages

    def check_index(self) -> None:
        """Needs the server to have ended: looks into the index itself."""
        kernel = Kernel(self._settings)
        try:
            with kernel.store.read() as session:
                passages = session.scalar(select(func.count()).select_from(Passage))
                marks = session.execute(
                    select(Passage.lexical_with, Passage.dense_with).distinct()
                ).all()
            assert [tuple(row) for row in marks] == [
                (kernel.index.lexical_signature, kernel.dense_signature)
            ]
            assert kernel.index.count(Collection.PASSAGES, self._account_id) == passages
        finally:
            kernel.close()

    def _counts(self) -> dict[str, int]:
        tables = {"conversations": Conversation, "captures": Capture, "messages": Message}
        with self._store.read() as session:
            return {
                name: session.scalar(select(func.count()).select_from(table)) or 0
                for name, table in tables.items()
            }

    def _check_items(self, report: Import) -> None:
        query = select(func.count(), func.count(distinct(ImportItem.external_id)))
        with self._store.read() as session:
            items, different = session.execute(query.where(ImportItem.import_id == report.id)).one()
        assert items == different == report.found

    def _report(self, import_id: str) -> Import:
        with self._store.read() as session:
            row = session.get(Import, import_id)
        assert row is not None
        return row
