import time

import pytest

from backread.identity import new_id


def test_ids_made_one_after_another_sort_in_that_order() -> None:
    ids = [new_id() for _ in range(20_000)]
    assert ids == sorted(set(ids))


def test_ids_keep_their_order_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = new_id()
    hour_ago = time.time_ns() - 3_600_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: hour_ago)
    assert before < new_id() < new_id()


def test_an_id_is_26_characters_and_the_next_cannot_be_counted_up() -> None:
    ids = [new_id() for _ in range(500)]
    assert {len(each) for each in ids} == {26}
    assert len({each[-6:] for each in ids}) > 490
