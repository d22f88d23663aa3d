"""Record folders and the keys that open them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, Folder, FolderKey, FolderRecord


@dataclass(frozen=True, slots=True)
class FolderCount:
    """A folder and how many records it holds."""

    folder: Folder
    records: int


def folders_of(session: ReadSession, account_id: str) -> list[FolderCount]:
    """All folders, by name."""
    rows = session.execute(
        select(Folder, func.count(FolderRecord.id))
        .outerjoin(
            FolderRecord,
            (FolderRecord.folder_id == Folder.id) & FolderRecord.deleted_at.is_(None),
        )
        .where(Folder.account_id == account_id)
        .group_by(Folder.id)
        .order_by(func.lower(Folder.name), Folder.id)
    )
    return [FolderCount(folder, count) for folder, count in rows]


def find_folder(session: ReadSession, account_id: str, folder_id: str) -> Folder | None:
    """None for an unknown id and for another account's alike."""
    return session.scalar(
        select(Folder).where(Folder.id == folder_id, Folder.account_id == account_id)
    )


def lock_folder(
    session: WriteSession, account_id: str, folder_id: str, *, alone: bool = False
) -> bool:
    """Whether there is such a folder; until the transaction ends nobody can delete it, and with
    `alone` nobody can write in it either."""
    query = select(Folder.id).where(Folder.id == folder_id, Folder.account_id == account_id)
    locking = query.with_for_update(read=not alone, key_share=not alone)
    return session.scalar(locking) is not None


def find_folder_named(session: ReadSession, account_id: str, name: str) -> Folder | None:
    return session.scalar(
        select(Folder).where(Folder.account_id == account_id, Folder.name == name)
    )


def count_folders(session: ReadSession, account_id: str) -> int:
    statement = select(func.count()).where(Folder.account_id == account_id)
    return session.scalar(statement) or 0


def delete_folder(session: WriteSession, account_id: str, folder_id: str) -> None:
    """With its keys and records. The caller has asked for its points' removal."""
    session.execute(delete(Folder).where(Folder.id == folder_id, Folder.account_id == account_id))


def keys_of(session: ReadSession, account_id: str, folder_id: str) -> Sequence[FolderKey]:
    """Newest first, those that have expired among them."""
    return session.scalars(
        select(FolderKey)
        .where(FolderKey.account_id == account_id, FolderKey.folder_id == folder_id)
        .order_by(FolderKey.id.desc())
    ).all()


def find_live_key(
    session: ReadSession, key_hash: str, *, now: datetime
) -> tuple[FolderKey, Folder] | None:
    """The key with its folder, unless it expired or the account is disabled."""
    row = session.execute(
        select(FolderKey, Folder)
        .join(Folder, Folder.id == FolderKey.folder_id)
        .join(Account, Account.id == FolderKey.account_id)
        .where(
            FolderKey.key_hash == key_hash,
            FolderKey.expires_at.is_(None) | (FolderKey.expires_at > now),
            Account.disabled_at.is_(None),
        )
    ).first()
    return (row[0], row[1]) if row else None


def mark_key_used(session: WriteSession, key_id: str, *, now: datetime) -> None:
    session.execute(update(FolderKey).where(FolderKey.id == key_id).values(last_used_at=now))


def delete_key(session: WriteSession, account_id: str, folder_id: str, key_id: str) -> bool:
    """Whether the folder had such a key."""
    result = session.execute(
        delete(FolderKey).where(
            FolderKey.account_id == account_id,
            FolderKey.folder_id == folder_id,
            FolderKey.id == key_id,
        )
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]
