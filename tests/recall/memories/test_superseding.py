"""Lines of memories that changes at the same moment cannot break."""

from collections.abc import Callable
from contextlib import suppress

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.repositories import memories as store
from recall.memories import list_buckets, memories_and_buckets, store_memory
from recall.memories.superseding import supersede
from tests.support import meanwhile


def test_of_two_that_take_each_others_place_at_once_one_still_holds(
    kernel: Kernel, principal: Principal
) -> None:
    monday, tuesday = (
        store_memory(kernel, principal, f"The meeting is on {day}.").memory_id
        for day in ("Monday", "Tuesday")
    )

    def replace(former: str, new: str) -> Callable[[WriteSession], None]:
        def work(session: WriteSession) -> None:
            memory = store.get_memory(session, principal.account_id, new)
            supersede(session, principal, memory, former)

        return work

    with suppress(InvalidInput):
        meanwhile(kernel.store, replace(monday, tuesday), replace(tuesday, monday))
    shown = memories_and_buckets(kernel, principal, every=True).memories
    assert [each.memory_id for each in shown if not each.superseded_by] == [tuesday]


def test_a_bucket_does_not_count_former_versions(kernel: Kernel, principal: Principal) -> None:
    former = store_memory(kernel, principal, "The meeting is on Monday.")
    store_memory(kernel, principal, "The meeting is on Tuesday.", supersedes=former.memory_id)
    (bucket,) = list_buckets(kernel, principal).buckets
    assert bucket.memory_count == 1
