"""Memories that were deleted and can still be had back, and the receipts of those that cannot."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select, update

from backread.errors import NotFound
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Bucket, Forgetting, ForgottenMemory, Memory, SuggestedMemory
from backread.store.repositories.chunks import chunks
from backread.store.repositories.removals import record_removals

_CARRIED = (
    "id",
    "account_id",
    "bucket_id",
    "text",
    "client_id",
    "updated_by",
    "conversation_id",
    "message_id",
    "superseded_by",
    "superseded_at",
    "created_at",
    "updated_at",
)


def put_away(
    session: WriteSession, forgetting: Forgetting, memories: Sequence[Memory], names: dict[int, str]
) -> None:
    """Moves memories to where nothing finds them, and asks for their removal from the index.
    `names` are the names of their buckets."""
    session.add(forgetting)
    session.flush()
    for memory in memories:
        values = {name: getattr(memory, name) for name in _CARRIED}
        session.add(
            ForgottenMemory(
                **values, forgetting_id=forgetting.id, bucket_name=names[memory.bucket_id]
            )
        )
    account_id = forgetting.account_id
    record_removals(session, account_id, "memories", [memory.point_id for memory in memories])
    for some in chunks([memory.id for memory in memories]):
        session.execute(
            delete(Memory)
            .where(Memory.account_id == account_id, Memory.id.in_(some))
            .execution_options(synchronize_session=False)
        )
    session.flush()


def bucket_memories(session: ReadSession, account_id: str, bucket_id: int) -> list[Memory]:
    """All that lie in the bucket, the superseded ones too."""
    query = select(Memory).where(Memory.account_id == account_id, Memory.bucket_id == bucket_id)
    return list(session.scalars(query.order_by(Memory.id)))


def remove_bucket(session: WriteSession, bucket: Bucket) -> None:
    session.delete(bucket)
    session.flush()


def get_forgetting(session: ReadSession, account_id: str, forgetting_id: str) -> Forgetting:
    """Raises NotFound for an id that does not exist and for another account's alike."""
    found = session.get(Forgetting, forgetting_id)
    if found is None or found.account_id != account_id:
        raise NotFound(
            "There is no deletion with this id.",
            hint="forget_memories and delete_bucket give an undoId for theirs.",
        )
    return found


def list_forgettings(session: ReadSession, account_id: str, *, limit: int) -> list[Forgetting]:
    """Those that can still be undone, newest first."""
    query = (
        select(Forgetting)
        .where(
            Forgetting.account_id == account_id,
            Forgetting.undone_at.is_(None),
            Forgetting.purged_at.is_(None),
        )
        .order_by(Forgetting.forgotten_at.desc(), Forgetting.id.desc())
        .limit(limit)
    )
    return list(session.scalars(query))


def memories_of(
    session: ReadSession, account_id: str, forgetting_id: str, *, limit: int | None = None
) -> list[ForgottenMemory]:
    """What one deletion took away, oldest first."""
    query = select(ForgottenMemory).where(
        ForgottenMemory.account_id == account_id, ForgottenMemory.forgetting_id == forgetting_id
    )
    return list(session.scalars(query.order_by(ForgottenMemory.id).limit(limit)))


def discard(session: WriteSession, account_id: str, forgetting_id: str) -> None:
    """Deletes the texts. Their receipt stays."""
    session.execute(
        delete(ForgottenMemory)
        .where(
            ForgottenMemory.account_id == account_id,
            ForgottenMemory.forgetting_id == forgetting_id,
        )
        .execution_options(synchronize_session=False)
    )


def due_for_purge(session: ReadSession, *, now: datetime, limit: int) -> list[Forgetting]:
    """Deletions whose time to undo is over, of all accounts."""
    query = select(Forgetting).where(
        Forgetting.purge_at <= now,
        Forgetting.purged_at.is_(None),
        Forgetting.undone_at.is_(None),
    )
    return list(session.scalars(query.order_by(Forgetting.purge_at).limit(limit)))


def erase_suggestions(session: WriteSession, account_id: str, ids: Sequence[str]) -> None:
    """Suggestions that had become one of these memories lose their words. Their hash stays, so that
    no import offers them again."""
    for some in chunks(ids):
        session.execute(
            update(SuggestedMemory)
            .where(SuggestedMemory.account_id == account_id, SuggestedMemory.memory_id.in_(some))
            .values(state="erased", memory_id=None, text="", source="")
            .execution_options(synchronize_session=False)
        )
