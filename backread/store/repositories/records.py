"""Records of folders, their revisions, metadata and propositions.

Everything is asked for with the account and the folder, so that no id reaches beyond either.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, delete, exists, func, insert, select

from backread.identity import value_hash
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import (
    FolderRecord,
    RecordField,
    RecordProposition,
    RecordRevision,
)

Condition = tuple[str, object]  # a metadata key, and the JSON scalar it must have


def find_record(
    session: ReadSession,
    account_id: str,
    folder_id: str,
    record_id: str,
    *,
    for_update: bool = False,
    with_deleted: bool = False,
) -> FolderRecord | None:
    """None for an unknown id, a deleted record and another folder's alike."""
    query = _of_folder(account_id, folder_id, with_deleted).where(FolderRecord.id == record_id)
    return session.scalar(query.with_for_update() if for_update else query)


def records_named(
    session: ReadSession, account_id: str, folder_id: str, name: str
) -> Sequence[FolderRecord]:
    """Records with exactly this name, the one that was written last first."""
    query = _of_folder(account_id, folder_id).where(FolderRecord.name.in_(_spellings(name)))
    newest = FolderRecord.updated_at.desc(), FolderRecord.id.desc()
    return session.scalars(query.order_by(*newest).limit(100)).all()


def records_with_name(
    session: ReadSession, account_id: str, text: str, *, limit: int
) -> Sequence[FolderRecord]:
    """Records of all the account's folders whose name holds the text, the latest first."""
    query = select(FolderRecord).where(
        FolderRecord.account_id == account_id,
        FolderRecord.deleted_at.is_(None),
        FolderRecord.name.icontains(text, autoescape=True),
    )
    order = (FolderRecord.updated_at.desc(), FolderRecord.id.desc())
    return session.scalars(query.order_by(*order).limit(limit)).all()


def list_records(
    session: ReadSession,
    account_id: str,
    folder_id: str,
    *,
    name: str | None = None,
    conditions: Sequence[Condition] = (),
    after_id: str = "",
    limit: int,
) -> Sequence[FolderRecord]:
    """Records for which everything holds, oldest first, beginning after `after_id`."""
    query = _filtered(_of_folder(account_id, folder_id), folder_id, name, conditions)
    query = query.where(FolderRecord.id > after_id).order_by(FolderRecord.id).limit(limit)
    return session.scalars(query).all()


def count_records(
    session: ReadSession,
    account_id: str,
    folder_id: str,
    *,
    name: str | None = None,
    conditions: Sequence[Condition] = (),
) -> int:
    found = _filtered(_of_folder(account_id, folder_id), folder_id, name, conditions)
    return session.scalars(select(func.count()).select_from(found.subquery())).one()


def all_records(
    session: ReadSession, account_id: str, folder_id: str, *, after_id: str, limit: int
) -> Sequence[FolderRecord]:
    """Every record of the folder, deleted ones too, oldest first, beginning after `after_id`."""
    query = _of_folder(account_id, folder_id, with_deleted=True)
    query = query.where(FolderRecord.id > after_id).order_by(FolderRecord.id).limit(limit)
    return session.scalars(query).all()


def find_any_record(session: ReadSession, record_id: str) -> FolderRecord | None:
    """Of any account, to see whether an id is free. Nothing of it may be shown."""
    return session.get(FolderRecord, record_id)


def deleted_records(
    session: ReadSession, account_id: str, folder_id: str, *, limit: int
) -> Sequence[FolderRecord]:
    """Records that can be restored, the latest deletion first."""
    query = _of_folder(account_id, folder_id, with_deleted=True)
    query = query.where(FolderRecord.deleted_at.is_not(None))
    newest = FolderRecord.deleted_at.desc(), FolderRecord.id.desc()
    return session.scalars(query.order_by(*newest).limit(limit)).all()


def add_revision(session: WriteSession, record: FolderRecord, operation: str, made_by: str) -> None:
    """Keeps the record as it is now under its revision's number."""
    session.add(
        RecordRevision(
            record_id=record.id,
            number=record.revision,
            operation=operation,
            name=record.name,
            content=record.content,
            fields=record.fields,
            vector_description=record.vector_description,
            made_by=made_by,
            created_at=record.updated_at,
        )
    )


@dataclass(frozen=True, slots=True)
class RevisionHead:
    """A revision without what the record said."""

    number: int
    operation: str
    name: str
    made_by: str
    created_at: datetime


def revisions_of(
    session: ReadSession, record: FolderRecord, *, before: int | None = None, limit: int
) -> list[RevisionHead]:
    """What was written, newest first; only numbers below `before`."""
    query = select(
        RecordRevision.number,
        RecordRevision.operation,
        RecordRevision.name,
        RecordRevision.made_by,
        RecordRevision.created_at,
    ).where(RecordRevision.record_id == record.id)
    if before is not None:
        query = query.where(RecordRevision.number < before)
    rows = session.execute(query.order_by(RecordRevision.number.desc()).limit(limit))
    return [RevisionHead(*row) for row in rows]


def find_revision(session: ReadSession, record: FolderRecord, number: int) -> RecordRevision | None:
    return session.scalar(
        select(RecordRevision).where(
            RecordRevision.record_id == record.id, RecordRevision.number == number
        )
    )


def next_revision(session: ReadSession, record: FolderRecord, after: int) -> RecordRevision | None:
    """The first revision with a number above `after`."""
    query = select(RecordRevision).where(
        RecordRevision.record_id == record.id, RecordRevision.number > after
    )
    return session.scalar(query.order_by(RecordRevision.number).limit(1))


def replace_fields(session: WriteSession, record: FolderRecord) -> None:
    """Makes the record's metadata findable as it is now."""
    session.execute(delete(RecordField).where(RecordField.record_id == record.id))
    if record.fields and record.deleted_at is None:
        session.execute(
            insert(RecordField),
            [
                {
                    "record_id": record.id,
                    "folder_id": record.folder_id,
                    "key": key,
                    "value_hash": value_hash(value),
                }
                for key, value in record.fields.items()
            ],
        )


def propositions_of(session: ReadSession, record: FolderRecord) -> Sequence[RecordProposition]:
    return session.scalars(
        select(RecordProposition)
        .where(RecordProposition.record_id == record.id)
        .order_by(RecordProposition.position)
    ).all()


def replace_propositions(
    session: WriteSession, record_id: str, propositions: Sequence[tuple[str, int, int]]
) -> None:
    """Each a text and the characters of the content, from and to, that state it."""
    session.execute(delete(RecordProposition).where(RecordProposition.record_id == record_id))
    if propositions:
        session.execute(
            insert(RecordProposition),
            [
                {"record_id": record_id, "position": at, "text": text, "start": start, "end": end}
                for at, (text, start, end) in enumerate(propositions)
            ],
        )


def _of_folder(account_id: str, folder_id: str, with_deleted: bool = False) -> Select[FolderRecord]:
    query = select(FolderRecord).where(
        FolderRecord.account_id == account_id, FolderRecord.folder_id == folder_id
    )
    return query if with_deleted else query.where(FolderRecord.deleted_at.is_(None))


def _filtered(
    query: Select[FolderRecord],
    folder_id: str,
    name: str | None,
    conditions: Sequence[Condition],
) -> Select[FolderRecord]:
    if name is not None:
        query = query.where(FolderRecord.name.in_(_spellings(name)))
    for key, value in conditions:
        query = query.where(
            exists().where(
                RecordField.record_id == FolderRecord.id,
                RecordField.folder_id == folder_id,
                RecordField.key == key,
                RecordField.value_hash == value_hash(value),
            )
        )
    return query


def _spellings(name: str) -> list[str]:
    """The name as records may have it: without spaces around it, and with accents written as one
    character or as two, which nobody can tell apart."""
    name = name.strip()
    return sorted({name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))})
