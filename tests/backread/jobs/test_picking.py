"""Whose turn it is, and when a running job gives its place up."""

import threading
from collections.abc import Callable

import pytest

from backread.domain import Principal
from backread.jobs import Queue
from backread.jobs.inline import serve_places
from backread.jobs.liveness import join_group
from backread.jobs.picking import Place, must_give_way, next_job
from backread.jobs.runner import claim_job, run_next
from backread.kernel import Kernel
from tests.backread.jobs.conftest import add, change_job, read_job
from tests.backread.jobs.sample_jobs import trace
from tests.conftest import new_principal
from tests.support import wait_until

BOTH = Place(tuple(Queue), slots=1, group="nobody-")


@pytest.fixture
def group() -> str:
    """This process as a worker."""
    return join_group()


def test_accounts_take_turns_however_much_one_has_waiting(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    for number in range(5):
        add(kernel, "sample.note", principal, text=f"ada {number}")
    for number in range(2):
        add(kernel, "sample.note", stranger, text=f"boris {number}")
    while run_next(kernel, BOTH):
        pass
    assert trace(kernel.settings.home) == [
        *("ada 0", "boris 0", "ada 1", "boris 1"),
        *("ada 2", "ada 3", "ada 4"),
    ]


def test_an_account_that_comes_late_is_next(kernel: Kernel, principal: Principal) -> None:
    for number in range(3):
        add(kernel, "sample.note", principal, text=f"ada {number}")
    run_next(kernel, BOTH)
    add(kernel, "sample.note", new_principal(kernel.store, "late@example.org"), text="late")
    run_next(kernel, BOTH)
    assert trace(kernel.settings.home) == ["ada 0", "late"]


def test_what_people_wait_for_goes_first_and_backfills_go_last(
    kernel: Kernel, principal: Principal
) -> None:
    (kernel.settings.home / "go").touch()
    add(kernel, "sample.backfill", principal, name="go")
    add(kernel, "sample.note_later", principal, text="in the background")
    add(kernel, "sample.note", principal, text="waited for")
    while run_next(kernel, BOTH):
        pass
    assert trace(kernel.settings.home) == [
        *("waited for", "in the background", f"big of {principal.account_id}")
    ]


def test_the_last_free_place_is_kept_for_others(
    kernel: Kernel, principal: Principal, stranger: Principal, group: str
) -> None:
    two = Place(tuple(Queue), slots=2, group=group)
    running, waiting = (add(kernel, "sample.note", principal, text="x") for _ in range(2))
    assert claim_job(kernel, running) is not None
    assert next_job(kernel, two) is None
    other = add(kernel, "sample.note", stranger, text="x")
    assert getattr(next_job(kernel, two), "id", None) == other

    three = Place(tuple(Queue), slots=3, group=group)
    assert claim_job(kernel, other) is not None
    assert getattr(next_job(kernel, three), "id", None) == waiting


def test_a_worker_takes_no_account_of_what_other_workers_run(
    kernel: Kernel, principal: Principal
) -> None:
    running, waiting = (add(kernel, "sample.note", principal, text="x") for _ in range(2))
    assert claim_job(kernel, running) is not None
    elsewhere = Place(tuple(Queue), slots=2, group="another-machine-")
    assert getattr(next_job(kernel, elsewhere), "id", None) == waiting


def test_a_job_that_runs_with_the_same_key_holds_back_its_own_successor_alone(
    kernel: Kernel, principal: Principal
) -> None:
    first = add(kernel, "sample.note", principal, text="x", dedupe_key="k")
    assert claim_job(kernel, first) is not None
    add(kernel, "sample.note", principal, text="x", dedupe_key="k")
    free = add(kernel, "sample.note", principal, text="x", dedupe_key="other")
    assert getattr(next_job(kernel, BOTH), "id", None) == free


Case = Callable[[Kernel, Principal, Principal], object]
GIVE_WAY: dict[str, tuple[str, Case, bool]] = {
    "another account waits": (
        "sample.big",
        lambda kernel, ada, boris: add(kernel, "sample.note", boris, text="x"),
        True,
    ),
    "its own account waits": (
        "sample.big",
        lambda kernel, ada, boris: add(kernel, "sample.note", ada, text="x"),
        False,
    ),
    "something less urgent waits": (
        "sample.big",
        lambda kernel, ada, boris: add(kernel, "sample.note_later", boris, text="x"),
        False,
    ),
    "something more urgent of its own account waits": (
        "sample.backfill",
        lambda kernel, ada, boris: add(kernel, "sample.note_later", ada, text="x"),
        True,
    ),
    "nothing waits": ("sample.big", lambda kernel, ada, boris: None, False),
}


@pytest.mark.parametrize("case", GIVE_WAY)
def test_a_job_gives_way_when(
    kernel: Kernel, principal: Principal, stranger: Principal, group: str, case: str
) -> None:
    name, meanwhile, expected = GIVE_WAY[case]
    job_id = add(kernel, name, principal, name="go")
    assert claim_job(kernel, job_id) is not None
    meanwhile(kernel, principal, stranger)
    assert must_give_way(kernel, Place(tuple(Queue), 1, group), job_id) is expected
    assert not must_give_way(kernel, Place(tuple(Queue), 2, group), job_id), "there is room"


def test_of_several_the_one_that_has_had_its_place_longest_gives_way(
    kernel: Kernel, principal: Principal, stranger: Principal, group: str
) -> None:
    place = Place(tuple(Queue), 2, group)
    first = add(kernel, "sample.big", principal, name="go")
    second = add(kernel, "sample.big", stranger, name="go")
    for job_id in (first, second):
        assert claim_job(kernel, job_id) is not None
    add(kernel, "sample.note", new_principal(kernel.store, "third@example.org"), text="x")
    assert must_give_way(kernel, place, first)
    assert not must_give_way(kernel, place, second)


def test_no_job_gives_way_to_one_that_could_not_begin_in_its_place(
    kernel: Kernel, principal: Principal, stranger: Principal, group: str
) -> None:
    place = Place(tuple(Queue), 2, group)
    backfill = add(kernel, "sample.backfill", stranger, name="go")
    own = add(kernel, "sample.note", principal, text="x", dedupe_key="k")
    for job_id in (backfill, own):
        assert claim_job(kernel, job_id) is not None
    add(kernel, "sample.note", principal, text="one at a time on two places")
    assert not must_give_way(kernel, place, backfill)

    third = Place(tuple(Queue), 3, group)
    assert claim_job(kernel, add(kernel, "sample.backfill", stranger, name="go")) is not None
    assert must_give_way(kernel, third, backfill), "on three places an account may have two"


def test_no_job_gives_way_to_one_whose_key_a_running_job_has(
    kernel: Kernel, principal: Principal, stranger: Principal, group: str
) -> None:
    place = Place(tuple(Queue), 3, group)
    backfills = [add(kernel, "sample.backfill", stranger, name="go") for _ in range(2)]
    first = add(kernel, "sample.note", principal, text="x", dedupe_key="k")
    for job_id in (*backfills, first):
        assert claim_job(kernel, job_id) is not None
    add(kernel, "sample.note", principal, text="x", dedupe_key="k")
    assert not any(must_give_way(kernel, place, job_id) for job_id in backfills)
    add(kernel, "sample.note", principal, text="x", dedupe_key="other")
    assert must_give_way(kernel, place, backfills[0])


def test_a_small_job_of_one_account_ends_before_a_large_one_of_another_on_one_place(
    kernel: Kernel, principal: Principal, stranger: Principal, group: str
) -> None:
    home = kernel.settings.home
    large = add(kernel, "sample.big", principal, name="go")
    stopping = threading.Event()
    place = Place((Queue.INTERACTIVE,), slots=1, group=group, turn_seconds=0)
    worker = threading.Thread(target=serve_places, args=(kernel, stopping, [place]))
    worker.start()
    try:
        wait_until(lambda: trace(home), what="the large job")
        small = add(kernel, "sample.note", stranger, text="small")
        wait_until(lambda: read_job(kernel.store, small).state == "done", what="the small job")
        wait_until(lambda: len(trace(home)) == 3, what="the large job again")
        (home / "go").touch()
        wait_until(lambda: read_job(kernel.store, large).state == "done", what="the end")
    finally:
        stopping.set()
        worker.join(20)
    row = read_job(kernel.store, large)
    assert (row.attempts, row.failures, row.losses, row.error) == (2, 0, 0, "")
    assert trace(home) == [f"big of {principal.account_id}", "small", *trace(home)[:1]]


def test_a_job_that_loses_its_process_comes_after_the_others_of_its_account(
    kernel: Kernel, principal: Principal
) -> None:
    poison = add(kernel, "sample.note", principal, text="x")
    other = add(kernel, "sample.note", principal, text="x")
    assert claim_job(kernel, poison) is not None
    change_job(kernel.store, poison, lease_until=None, losses=1)
    assert getattr(next_job(kernel, BOTH), "id", None) == other
