"""Deleting memories and buckets, having them back, and the purge."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from backread.domain import Principal
from backread.errors import Conflict, NotFound
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Forgetting, ForgottenMemory
from backread.vectors.index import Collection
from recall.memories import (
    create_bucket,
    delete_bucket,
    forget_memories,
    list_buckets,
    purge_forgotten,
    purge_now,
    search_memories,
    store_memory,
    undo_forget,
)


def test_a_forgotten_memory_is_gone_everywhere_and_comes_back_as_it_was(
    kernel: Kernel, principal: Principal
) -> None:
    old = store_memory(kernel, principal, "The gate code is 4711.")
    kept = store_memory(kernel, principal, "Ada drinks tea.")
    (before,) = search_memories(kernel, principal, "gate code").memories
    gone = forget_memories(kernel, principal, [old.memory_id])
    assert gone.memory_count == 1
    assert gone.memories[0].text == "The gate code is 4711."
    assert search_memories(kernel, principal, "gate code").memories == []
    assert kernel.index.count(Collection.MEMORIES, principal.account_id) == 1
    (bucket,) = list_buckets(kernel, principal).buckets
    assert bucket.memory_count == 1
    back = undo_forget(kernel, principal, gone.undo_id)
    assert back.restored == 1
    (after,) = search_memories(kernel, principal, "gate code").memories
    assert after.model_dump(exclude={"score"}) == before.model_dump(exclude={"score"})
    with pytest.raises(Conflict, match="undone before"):
        undo_forget(kernel, principal, gone.undo_id)
    assert search_memories(kernel, principal, "tea").memories[0].memory_id == kept.memory_id


def test_one_unknown_id_and_nothing_is_deleted(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    mine = store_memory(kernel, principal, "Ada drinks tea.").memory_id
    foreign = store_memory(kernel, stranger, "Boris drinks coffee.").memory_id
    with pytest.raises(NotFound, match=foreign):
        forget_memories(kernel, principal, [mine, foreign])
    assert search_memories(kernel, principal, "tea").memories
    gone = forget_memories(kernel, principal, [mine])
    with pytest.raises(NotFound):
        undo_forget(kernel, stranger, gone.undo_id)


def test_what_was_stored_again_meanwhile_is_not_doubled(
    kernel: Kernel, principal: Principal
) -> None:
    old = store_memory(kernel, principal, "Ada drinks tea.")
    gone = forget_memories(kernel, principal, [old.memory_id])
    new = store_memory(kernel, principal, "Ada drinks tea.")
    assert new.stored
    back = undo_forget(kernel, principal, gone.undo_id)
    assert (back.restored, back.already_there) == (0, 1)
    assert [each.memory_id for each in search_memories(kernel, principal, "tea").memories] == [
        new.memory_id
    ]


def test_a_deleted_bucket_comes_back_with_its_id_name_and_memories(
    kernel: Kernel, principal: Principal
) -> None:
    default = store_memory(kernel, principal, "Ada drinks tea.").bucket_id
    bucket = create_bucket(kernel, principal, "Garden").bucket_id
    for text in ("The beds are made of cedar.", "The hedge is cut in June."):
        store_memory(kernel, principal, text, bucket_id=bucket)
    with pytest.raises(Conflict, match="default"):
        delete_bucket(kernel, principal, default)
    gone = delete_bucket(kernel, principal, bucket)
    assert (gone.memory_count, gone.bucket_id) == (2, bucket)
    assert [each.bucket_id for each in list_buckets(kernel, principal).buckets] == [default]
    assert search_memories(kernel, principal, "hedge").memories == []
    back = undo_forget(kernel, principal, gone.undo_id)
    assert (back.restored, back.bucket_ids, back.bucket_created) == (2, [bucket], True)
    assert back.text == f"Brought back bucket {bucket} with 2 memories."
    again = [each for each in list_buckets(kernel, principal).buckets if not each.is_default]
    assert [(each.name, each.memory_count) for each in again] == [("Garden", 2)]


def test_a_memory_whose_bucket_is_gone_brings_it_back(kernel: Kernel, principal: Principal) -> None:
    bucket = create_bucket(kernel, principal, "Garden").bucket_id
    store_memory(kernel, principal, "Ada drinks tea.")
    stored = store_memory(kernel, principal, "The hedge is cut in June.", bucket_id=bucket)
    gone = forget_memories(kernel, principal, [stored.memory_id])
    delete_bucket(kernel, principal, bucket)
    undo_forget(kernel, principal, gone.undo_id)
    (found,) = search_memories(kernel, principal, "hedge").memories
    assert found.bucket_name == "Garden"


def test_upkeep_purges_what_nobody_has_undone_and_keeps_the_receipt(
    kernel: Kernel, principal: Principal
) -> None:
    stored = store_memory(kernel, principal, "The gate code is 4711.")
    gone = forget_memories(kernel, principal, [stored.memory_id])
    purge_forgotten(kernel)
    with kernel.store.read() as session:
        assert session.scalars(select(ForgottenMemory)).all()
    with kernel.store.write() as session:
        session.execute(update(Forgetting).values(purge_at=utcnow() - timedelta(seconds=1)))
    purge_forgotten(kernel)
    with kernel.store.read() as session:
        assert session.scalars(select(ForgottenMemory)).all() == []
        (receipt,) = session.scalars(select(Forgetting)).all()
        assert receipt.purged_at is not None
        assert receipt.memory_count == 1
    with pytest.raises(Conflict, match="too late"):
        undo_forget(kernel, principal, gone.undo_id)


def test_the_owner_need_not_wait_for_the_purge(kernel: Kernel, principal: Principal) -> None:
    stored = store_memory(kernel, principal, "The gate code is 4711.")
    gone = forget_memories(kernel, principal, [stored.memory_id])
    purge_now(kernel, principal, gone.undo_id)
    with pytest.raises(Conflict, match="too late"):
        undo_forget(kernel, principal, gone.undo_id)


def test_a_former_version_that_is_forgotten_stays_one_when_it_comes_back(
    kernel: Kernel, principal: Principal
) -> None:
    old = store_memory(kernel, principal, "Ada lives in Zurich.")
    new = store_memory(kernel, principal, "Ada lives in Lisbon.", supersedes=old.memory_id)
    gone = forget_memories(kernel, principal, [old.memory_id])
    undo_forget(kernel, principal, gone.undo_id)
    found = search_memories(kernel, principal, "Zurich").memories
    assert [each.memory_id for each in found] == [new.memory_id, old.memory_id]
