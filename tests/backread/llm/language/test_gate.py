"""How many requests go out at once, and when none do."""

from backread.llm.language.gate import Gate
from tests.backread.llm.language.conftest import Clock


def test_too_many_halves_it_and_good_answers_bring_it_back(clock: Clock) -> None:
    gate = Gate(4, now=clock.now)
    gate.too_many(5)
    assert (gate.limit, gate.pause_seconds) == (2, 5)
    gate.too_many(1)
    gate.too_many(1)
    assert (gate.limit, gate.pause_seconds) == (1, 5)
    for _ in range(100):
        gate.answered()
    assert gate.limit == 4
    clock.moment += 5
    assert gate.pause_seconds == 0


def test_a_place_that_does_not_come_in_time_is_not_given(clock: Clock) -> None:
    gate = Gate(1, now=clock.now)
    with gate.slot(1) as first:
        assert first
        with gate.slot(0) as second:
            assert not second
    with gate.slot(0) as third:
        assert third


def test_failures_in_a_row_close_it_for_a_while(clock: Clock) -> None:
    gate = Gate(1, now=clock.now)
    gate.gave_up()
    gate.gave_up()
    gate.answered()
    gate.gave_up()
    gate.gave_up()
    assert not gate.is_closed
    gate.gave_up()
    assert gate.is_closed
    clock.moment += 31
    assert not gate.is_closed
