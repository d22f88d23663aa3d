"""Writers that share one SQLite database."""

import threading

import pytest
from sqlalchemy import text

from backread.store.engine import Store

_ROUNDS = 5
_MOST_TURNS = _ROUNDS + 3


def _write(store: Store) -> None:
    with store.write() as session:
        session.execute(text("UPDATE accounts SET display_name = display_name"))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_writer_gets_its_turn_beside_one_that_pauses_for_a_moment_only(store: Store) -> None:
    """As a person's change does beside an import, which frees the database between two batches."""
    turns = 0
    holding, finished = threading.Event(), threading.Event()

    def write_nearly_always() -> None:
        nonlocal turns
        while not finished.is_set():
            with store.write() as session:
                session.execute(text("UPDATE accounts SET display_name = display_name"))
                holding.set()
                finished.wait(0.5)
            turns += 1
            finished.wait(0.02)

    busy = threading.Thread(target=write_nearly_always)
    busy.start()
    try:
        for _ in range(_ROUNDS):
            holding.clear()
            assert holding.wait(20)
            _write(store)
    finally:
        finished.set()
        busy.join()
    assert turns <= _MOST_TURNS
