"""Deleting memories and buckets: gone at once, undone within a time, then purged with a receipt."""

from collections.abc import Container, Sequence
from datetime import timedelta

from backread.domain import Principal
from backread.errors import Conflict, InvalidInput
from backread.identity import statement_hash
from backread.jobs import UPKEEP
from backread.jobs.scrubbing import scrub_later
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Bucket, Forgetting, ForgottenMemory, Memory
from backread.store.repositories import forgettings
from backread.store.repositories import memories as store
from recall.categories.asking import enqueue_categorising
from recall.categories.withdrawing import withdraw
from recall.memories.buckets import bucket_number
from recall.memories.changing import all_memories, checked_ids
from recall.memories.indexing import index_memories, remove_from_index
from recall.memories.results import ForgottenItem, ForgottenMemories, RestoredMemories
from recall.memories.superseding import retired_hash

STORES = ["memories", "search index", "Smart Memory categories"]
_SHOWN_CHARACTERS = 120
_PURGED_AT_A_TIME = 200
_log = get_logger("recall.memories")


def forget_memories(
    kernel: Kernel, principal: Principal, memory_ids: Sequence[str]
) -> ForgottenMemories:
    """Deletes memories, all or none. What superseded ones of them were replaced by stays, and what
    they replaced does not come to hold again.

    Raises LimitExceeded beyond 100 and NotFound, with nothing deleted, for an unknown id.
    """
    ids = checked_ids(memory_ids)
    with kernel.store.write() as session:
        found = all_memories(session, principal, ids)
        items = [
            ForgottenItem(memory_id=each.id, text=each.text[:_SHOWN_CHARACTERS]) for each in found
        ]
        forgetting = _forgetting(kernel, principal, "memories", len(found))
        points = _put_away(session, forgetting, found)
    remove_from_index(kernel, principal.account_id, points)
    return _told(forgetting, items)


def delete_bucket(kernel: Kernel, principal: Principal, bucket_id: int | str) -> ForgottenMemories:
    """Deletes a bucket with all its memories. Raises NotFound for an unknown one and Conflict for
    the default bucket, which memories without a bucket go to."""
    with kernel.store.write() as session:
        # Alone, or what is put into it meanwhile would go with it, and could not be had back.
        number = bucket_number(bucket_id)
        bucket = store.hold_bucket(session, principal.account_id, number, alone=True)
        if bucket.is_default:
            raise Conflict(
                f"Bucket {bucket.id} is the default one and stays.",
                hint="Forget or move its memories instead.",
            )
        found = forgettings.bucket_memories(session, principal.account_id, bucket.id)
        forgetting = _forgetting(kernel, principal, "bucket", len(found))
        forgetting.bucket_id = bucket.id
        forgetting.bucket_name = bucket.name
        forgetting.bucket_created_at = bucket.created_at
        points = _put_away(session, forgetting, found)
        forgettings.remove_bucket(session, bucket)
    remove_from_index(kernel, principal.account_id, points)
    return _told(forgetting, [])


def undo_forget(kernel: Kernel, principal: Principal, undo_id: str) -> RestoredMemories:
    """Brings back what one deletion took away, with ids, dates and sources as they were. A memory
    whose text was stored again meanwhile is not doubled. A bucket that is gone is made again.

    Raises NotFound for an unknown id and Conflict when it was undone before or is purged.
    """
    account_id = principal.account_id
    with kernel.store.write() as session:
        forgetting = forgettings.get_forgetting(session, account_id, undo_id.strip())
        if forgetting.purged_at is not None:
            raise Conflict("It is too late: this was deleted for good.")
        if forgetting.undone_at is not None:
            raise Conflict("This was undone before.")
        forgotten = forgettings.memories_of(session, account_id, forgetting.id)
        made = forgetting.kind == "bucket" and _make_bucket_again(session, forgetting)
        buckets = store.bucket_names(session, account_id)
        restored = [_restore(session, account_id, each, buckets) for each in forgotten]
        added = [each for each in restored if each is not None]
        changed = sorted({each.bucket_id for each in added})
        if forgetting.kind == "bucket" and forgetting.bucket_id is not None and not changed:
            changed = [forgetting.bucket_id]
        enqueue_categorising(session, account_id, *changed)
        forgettings.discard(session, account_id, forgetting.id)
        forgetting.undone_at = utcnow()
    index_memories(kernel, account_id, added)
    return RestoredMemories(
        undo_id=forgetting.id,
        restored=len(added),
        already_there=len(restored) - len(added),
        bucket_ids=changed,
        bucket_created=made,
    )


def purge_forgotten(kernel: Kernel) -> None:
    """Deletes for good what nobody has undone in time. Done with the hourly upkeep; what stays is
    the receipt: how many, when, by whom, and when they were purged."""
    while True:
        with kernel.store.write() as session:
            due = forgettings.due_for_purge(session, now=utcnow(), limit=_PURGED_AT_A_TIME)
            for forgetting in due:
                purge(session, forgetting)
        if len(due) < _PURGED_AT_A_TIME:
            return


UPKEEP.append(purge_forgotten)


def purge(session: WriteSession, forgetting: Forgetting) -> None:
    """Leaves the receipt and nothing of what was said."""
    account_id = forgetting.account_id
    ids = [each.id for each in forgettings.memories_of(session, account_id, forgetting.id)]
    forgettings.erase_suggestions(session, account_id, ids)
    forgettings.discard(session, account_id, forgetting.id)
    scrub_later(session)
    forgetting.bucket_name = ""
    forgetting.purged_at = utcnow()
    _log.info("forgotten_memories_purged", forgetting_id=forgetting.id, memories=len(ids))


def purge_now(kernel: Kernel, principal: Principal, undo_id: str) -> None:
    """The owner's word that it shall not wait. Raises NotFound, and InvalidInput when there is
    nothing left to purge."""
    with kernel.store.write() as session:
        forgetting = forgettings.get_forgetting(session, principal.account_id, undo_id)
        if forgetting.undone_at is not None or forgetting.purged_at is not None:
            raise InvalidInput("There is nothing of it left to delete.")
        purge(session, forgetting)


def _forgetting(kernel: Kernel, principal: Principal, kind: str, count: int) -> Forgetting:
    now = utcnow()
    return Forgetting(
        account_id=principal.account_id,
        kind=kind,
        client_id=principal.client_id,
        memory_count=count,
        bucket_name="",
        forgotten_at=now,
        purge_at=now + timedelta(days=kernel.settings.forget_undo_days),
    )


def _put_away(
    session: WriteSession, forgetting: Forgetting, memories: Sequence[Memory]
) -> list[int]:
    """Returns the points that the index has to forget."""
    points = [each.point_id for each in memories]
    names = store.bucket_names(session, forgetting.account_id)
    buckets = sorted({each.bucket_id for each in memories})
    withdraw(session, forgetting.account_id, memories)
    enqueue_categorising(session, forgetting.account_id, *buckets)
    forgettings.put_away(session, forgetting, memories, names)
    return points


def _told(forgetting: Forgetting, items: Sequence[ForgottenItem]) -> ForgottenMemories:
    return ForgottenMemories(
        undo_id=forgetting.id,
        memory_count=forgetting.memory_count,
        bucket_id=forgetting.bucket_id,
        undo_until=forgetting.purge_at,
        memories=list(items),
        stores=STORES,
    )


def _make_bucket_again(session: WriteSession, forgetting: Forgetting) -> bool:
    """Under its old id. False when one of its name was made meanwhile, which then takes its
    place."""
    if store.bucket_called(session, forgetting.account_id, forgetting.bucket_name) is not None:
        return False
    bucket = Bucket(
        id=forgetting.bucket_id,
        account_id=forgetting.account_id,
        name=forgetting.bucket_name,
        created_at=forgetting.bucket_created_at or utcnow(),
    )
    session.add(bucket)
    session.flush()
    return True


def _restore(
    session: WriteSession, account_id: str, forgotten: ForgottenMemory, buckets: Container[int]
) -> Memory | None:
    """None when its bucket says the same again meanwhile."""
    bucket_id = forgotten.bucket_id
    if bucket_id not in buckets:
        bucket_id = store.named_bucket(session, account_id, forgotten.bucket_name).id
    memory = Memory(
        id=forgotten.id,
        account_id=account_id,
        bucket_id=bucket_id,
        text=forgotten.text,
        text_hash=statement_hash(forgotten.text),
        client_id=forgotten.client_id,
        updated_by=forgotten.updated_by,
        conversation_id=forgotten.conversation_id,
        message_id=forgotten.message_id,
        superseded_by=forgotten.superseded_by,
        superseded_at=forgotten.superseded_at,
        created_at=forgotten.created_at,
        updated_at=forgotten.updated_at,
        point_id=store.fresh_point_id(),
    )
    if memory.superseded_by:
        memory.text_hash = retired_hash(memory)
    elif store.find_by_hash(session, account_id, bucket_id, memory.text_hash) is not None:
        return None
    session.add(memory)
    session.flush()
    return memory
