"""Buckets that are deleted while something is put into them."""

from collections.abc import Callable

import pytest

from backread.domain import Principal
from backread.errors import NotFound
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.repositories import forgettings
from backread.store.repositories import memories as store
from recall.memories import (
    create_bucket,
    delete_bucket,
    find_bucket,
    list_buckets,
    memories_and_buckets,
    undo_forget,
)
from recall.memories.keeping import keep_memories
from tests.support import meanwhile


@pytest.fixture
def shelf(kernel: Kernel, principal: Principal) -> int:
    return create_bucket(kernel, principal, "Shelf").bucket_id


def putting(principal: Principal, bucket_id: int) -> Callable[[WriteSession], None]:
    def work(session: WriteSession) -> None:
        bucket = find_bucket(session, principal, bucket_id)
        keep_memories(session, principal, bucket, ["Coffee is black."])

    return work


def test_what_comes_while_its_bucket_is_being_deleted_is_told_that_there_is_none(
    kernel: Kernel, principal: Principal, shelf: int
) -> None:
    def delete(session: WriteSession) -> None:
        bucket = store.hold_bucket(session, principal.account_id, shelf, alone=True)
        forgettings.remove_bucket(session, bucket)

    with pytest.raises(NotFound):
        meanwhile(kernel.store, delete, putting(principal, shelf))
    assert memories_and_buckets(kernel, principal).memory_total == 0


def test_what_came_a_moment_before_its_bucket_was_deleted_can_be_had_back(
    kernel: Kernel, principal: Principal, shelf: int
) -> None:
    def delete(session: WriteSession) -> None:
        store.hold_bucket(session, principal.account_id, shelf, alone=True)
        assert len(forgettings.bucket_memories(session, principal.account_id, shelf)) == 1

    meanwhile(kernel.store, putting(principal, shelf), delete)
    gone = delete_bucket(kernel, principal, shelf)
    assert gone.memory_count == 1
    assert undo_forget(kernel, principal, gone.undo_id).restored == 1
    assert "Shelf" in {each.name for each in list_buckets(kernel, principal).buckets}
