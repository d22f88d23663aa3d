"""Engines, sessions and the one owner of the transaction.

`Store.write()` is a unit of work: it commits when its block ends well, rolls back otherwise, and
runs the callbacks given to `after_commit()` only once the commit has succeeded. Code below it
never commits. `Store.read()` gives a session that cannot write.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NewType

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

from backread.store.statements import trace_statements

ReadSession = NewType("ReadSession", Session)
WriteSession = NewType("WriteSession", ReadSession)

_AFTER_COMMIT = "backread_after_commit"
_SQLITE_WAIT_SECONDS = 30
_SQLITE_TRY_MILLISECONDS = 15
_SQLITE_LOG_BYTES = 64 * 1024**2  # what the write-ahead log shrinks to once it can begin anew
_SQLITE_PAGE_BYTES = 16384  # of a new database: rows hold texts, and large pages store them faster


class Store:
    """A database and its two kinds of session. Open it after a fork, never before."""

    def __init__(self, url: str) -> None:
        self.url = make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite and self.url.database:
            Path(self.url.database).parent.mkdir(parents=True, exist_ok=True)
        self.engine = self._engine(query_only=False)
        self._read_engine = self._engine(query_only=True) if self.is_sqlite else self.engine
        for engine in {self.engine, self._read_engine}:
            trace_statements(engine)

    def _engine(self, *, query_only: bool) -> Engine:
        if not self.is_sqlite:
            return create_engine(self.url, pool_pre_ping=True, hide_parameters=True)
        engine = create_engine(
            self.url,
            connect_args={"timeout": _SQLITE_WAIT_SECONDS},
            hide_parameters=True,  # an error that is logged must not quote what was being stored
        )

        @event.listens_for(engine, "connect")
        def configure(connection: Any, _record: Any) -> None:
            # pysqlite's own transaction handling starts transactions too late for IMMEDIATE.
            connection.isolation_level = None
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA page_size={_SQLITE_PAGE_BYTES}")
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=NORMAL")
            cursor.execute(f"PRAGMA journal_size_limit={_SQLITE_LOG_BYTES}")
            cursor.execute("PRAGMA foreign_keys=ON")
            cursor.execute("PRAGMA secure_delete=ON")  # what is deleted is written over
            cursor.execute("PRAGMA cache_size=-65536")
            cursor.execute("PRAGMA temp_store=MEMORY")
            if query_only:
                cursor.execute("PRAGMA query_only=ON")
            cursor.close()

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            if query_only:
                connection.exec_driver_sql("BEGIN")
            else:
                _begin_writing(connection)

        return engine

    @contextmanager
    def read(self) -> Iterator[ReadSession]:
        with Session(self._read_engine, expire_on_commit=False) as session:
            if not self.is_sqlite:
                session.connection(execution_options={"postgresql_readonly": True})
            yield ReadSession(session)

    @contextmanager
    def write(self) -> Iterator[WriteSession]:
        with Session(self.engine, expire_on_commit=False) as session:
            yield WriteSession(ReadSession(session))
            session.commit()
            callbacks: list[Callable[[], None]] = session.info.pop(_AFTER_COMMIT, [])
        for callback in callbacks:
            callback()

    def close(self) -> None:
        self.engine.dispose()
        self._read_engine.dispose()


def _begin_writing(connection: Connection) -> None:
    """Taking the write lock at once avoids the deadlock of two readers who both upgrade.

    SQLite's own waiting pauses for up to a tenth of a second between two tries. Whoever waits like
    that beside an import, which frees the lock for a moment between two batches, may wait for
    its end; so it is tried every few milliseconds instead.
    """
    driver: Any = connection.connection.driver_connection
    driver.execute(f"PRAGMA busy_timeout={_SQLITE_TRY_MILLISECONDS}")
    try:
        until = time.monotonic() + _SQLITE_WAIT_SECONDS
        while time.monotonic() < until:
            try:
                driver.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    break
            else:
                return
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # raises what callers know
    finally:
        driver.execute(f"PRAGMA busy_timeout={_SQLITE_WAIT_SECONDS * 1000}")


def after_commit(session: WriteSession, callback: Callable[[], None]) -> None:
    """Runs `callback` once the unit of work has committed; never if it rolls back."""
    session.info.setdefault(_AFTER_COMMIT, []).append(callback)
