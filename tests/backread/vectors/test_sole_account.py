"""A search that is not narrowed to its account must never see another's points."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from backread.vectors.edge import EdgeIndex
from backread.vectors.index import Collection, IndexFilter, IndexPoint, IndexQuery
from backread.vectors.sole_account import SoleAccount

NOTES = Collection.NOTES
ONE, OTHER = "one-account", "other-account"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[EdgeIndex]:
    opened = EdgeIndex(tmp_path / "index", "model")
    yield opened
    opened.close()


def point(number: int, account: str) -> IndexPoint:
    return IndexPoint(
        number, account, "group", "a boat by the sea", [1.0, 0.1 * (number % 7), 0.0, 0.0]
    )


def accounts_of(index: EdgeIndex, account: str) -> set[int]:
    mine = IndexFilter(account)
    asked = [
        IndexQuery(mine, 1000, words="boat"),
        IndexQuery(mine, 1000, vector=[1.0, 0.0, 0.0, 0.0]),
    ]
    return {hit.id for hits in index.search(NOTES, asked) for hit in hits}


def test_a_claim_holds_until_another_account_writes() -> None:
    sole = SoleAccount(lambda: [ONE])
    claim = sole.claim(ONE)
    assert claim is not None
    sole.writes([ONE])
    assert sole.holds(claim)
    sole.writes([ONE, OTHER])
    assert not sole.holds(claim)
    assert sole.claim(ONE) is None
    assert sole.claim(OTHER) is None


def test_nobody_has_a_claim_where_there_are_several() -> None:
    sole = SoleAccount(lambda: [ONE, OTHER])
    assert sole.claim(ONE) is None
    sole.writes([ONE])
    assert sole.claim(ONE) is None


def test_whoever_writes_into_an_empty_collection_first_has_it_alone() -> None:
    sole = SoleAccount(list)
    assert sole.claim(ONE) is None
    sole.writes([ONE])
    assert sole.claim(ONE) is not None
    assert sole.claim(OTHER) is None


def test_a_second_account_finds_and_shows_nothing_of_the_first(index: EdgeIndex) -> None:
    index.upsert(NOTES, [point(1, ONE)])
    assert accounts_of(index, ONE) == {1}
    assert accounts_of(index, OTHER) == set()
    index.upsert(NOTES, [point(2, OTHER)])
    assert accounts_of(index, ONE) == {1}
    assert accounts_of(index, OTHER) == {2}


def test_accounts_are_kept_apart_after_the_index_was_opened_anew(tmp_path: Path) -> None:
    first = EdgeIndex(tmp_path / "index", "model")
    first.upsert(NOTES, [point(1, ONE), point(2, OTHER)])
    first.close()
    again = EdgeIndex(tmp_path / "index", "model")
    assert accounts_of(again, ONE) == {1}
    again.delete_account(OTHER)
    again.close()
    alone = EdgeIndex(tmp_path / "index", "model")
    assert accounts_of(alone, ONE) == {1}
    assert accounts_of(alone, OTHER) == set()
    alone.close()


def test_searches_beside_the_first_writing_of_another_account_see_none_of_it(
    index: EdgeIndex,
) -> None:
    index.upsert(NOTES, [point(number, ONE) for number in range(200)])
    seen: set[int] = set()
    begun, written = threading.Event(), threading.Event()

    def search() -> None:
        while not written.is_set():
            seen.update(accounts_of(index, ONE))
            begun.set()

    searching = threading.Thread(target=search)
    searching.start()
    begun.wait(30)
    for start in range(1000, 1300, 50):
        index.upsert(NOTES, [point(number, OTHER) for number in range(start, start + 50)])
    written.set()
    searching.join()
    assert seen == set(range(200))


def test_words_of_deleted_texts_no_longer_make_a_word_common(index: EdgeIndex) -> None:
    boats = [IndexPoint(number, ONE, "group", f"boat {number}") for number in range(100)]
    trains = [IndexPoint(100 + number, ONE, "group", f"train {number}") for number in range(100)]
    index.upsert(NOTES, boats + trains)
    index.delete(NOTES, ONE, [each.id for each in boats[1:]])

    boat, train = index.search(
        NOTES, [IndexQuery(IndexFilter(ONE), 1, words=word) for word in ("boat", "train")]
    )

    assert boat[0].score > 2 * train[0].score
