"""Whether a worker takes its messages, as it looks to itself."""

from dataclasses import dataclass, field

import pytest

from backread.jobs.watchdog import Watchdog


@dataclass
class Worker:
    waiting: int = 0
    is_busy: bool = False
    taken: int = 0
    ends: list[str] = field(default_factory=list)

    def watchdog(self) -> Watchdog:
        return Watchdog(
            lambda: self.waiting,
            is_busy=lambda: self.is_busy,
            taken=lambda: self.taken,
            end=lambda: self.ends.append("ended"),
        )


def test_an_idle_worker_that_leaves_messages_waiting_ends() -> None:
    worker = Worker(waiting=4)
    dog = worker.watchdog()
    dog.look()
    dog.look()
    assert worker.ends == []
    dog.look()
    assert worker.ends == ["ended"]


@pytest.mark.parametrize(
    "worker", [Worker(), Worker(is_busy=True), Worker(waiting=4, is_busy=True)], ids=str
)
def test_a_worker_that_is_busy_or_has_nothing_to_take_goes_on(worker: Worker) -> None:
    dog = worker.watchdog()
    for _ in range(10):
        dog.look()
    assert worker.ends == []


def test_a_worker_that_took_something_between_two_looks_goes_on() -> None:
    worker = Worker(waiting=4)
    dog = worker.watchdog()
    for _ in range(10):
        worker.taken += 1
        dog.look()
    assert worker.ends == []


def test_a_worker_that_gets_on_again_is_given_all_its_looks_anew() -> None:
    worker = Worker(waiting=4)
    dog = worker.watchdog()
    for waiting in (4, 4, 0, 4, 4):
        worker.waiting = waiting
        dog.look()
    assert worker.ends == []
