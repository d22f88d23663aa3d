"""Helpers that tests of several areas use."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import select, text

from backread.store.engine import ReadSession, Store, WriteSession
from backread.store.models import Job

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T], *, seconds: float = 20.0, what: str = "the condition"
) -> T:
    """The first true value of `condition()`; fails the test when there is none in time."""
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until, f"{what} did not come within {seconds:g} seconds"
        time.sleep(0.05)
    return value


def waiting_jobs(session: ReadSession, name: str) -> list[Job]:
    """Queued jobs of a name, oldest first."""
    return list(
        session.scalars(select(Job).where(Job.name == name, Job.state == "queued").order_by(Job.id))
    )


def meanwhile(
    store: Store, first: Callable[[WriteSession], None], second: Callable[[WriteSession], None]
) -> None:
    """Does `second` in a transaction of its own while that of `first` is still open, as another
    request does. Raises what `second` raises."""

    def work() -> None:
        with store.write() as session:
            second(session)

    with ThreadPoolExecutor(1) as other:
        with store.write() as session:
            first(session)
            session.flush()
            running = other.submit(work)
            # SQLite lets the other one begin only afterwards.
            if not store.is_sqlite:
                wait_until(lambda: running.done() or _is_blocked(store), what="the other")
        running.result(timeout=30)


def _is_blocked(store: Store) -> bool:
    waiting = "datname = current_database() AND wait_event_type = 'Lock'"
    with store.engine.connect() as connection:
        found = connection.execute(text(f"SELECT count(*) FROM pg_stat_activity WHERE {waiting}"))
        return bool(found.scalar_one())
