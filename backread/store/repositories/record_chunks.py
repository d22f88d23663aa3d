"""Parts of records as the search index has them."""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, delete, func, insert, or_, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Folder, FolderRecord, RecordChunk
from backread.store.repositories.indexed import RECORDS
from backread.store.repositories.removals import record_removals


@dataclass(frozen=True, slots=True)
class NewChunk:
    """`text` is what is embedded; `start` and `end` are the characters of the content it shows."""

    text: str
    start: int
    end: int


def replace_chunks(session: WriteSession, record: FolderRecord, chunks: Sequence[NewChunk]) -> None:
    """Makes these the record's chunks. One whose text is as before keeps its place in the index;
    what is left of the former ones is taken out of it."""
    former: dict[str, list[RecordChunk]] = {}
    for row in session.scalars(select(RecordChunk).where(RecordChunk.record_id == record.id)):
        former.setdefault(row.text, []).append(row)
    rows = []
    for position, chunk in enumerate(chunks):
        kept = former[chunk.text].pop() if former.get(chunk.text) else None
        rows.append(
            {
                "account_id": record.account_id,
                "folder_id": record.folder_id,
                "record_id": record.id,
                "position": position,
                "start": chunk.start,
                "end": chunk.end,
                "text": chunk.text,
                "point_id": kept.point_id if kept else secrets.randbits(62),
                "lexical_with": kept.lexical_with if kept else "",
                "dense_with": kept.dense_with if kept else "",
                "beside_with": kept.beside_with if kept else "",
                "created_at": record.updated_at,
            }
        )
    gone = [row.point_id for some in former.values() for row in some]
    record_removals(session, record.account_id, RECORDS.collection, gone)
    session.execute(delete(RecordChunk).where(RecordChunk.record_id == record.id))
    if rows:
        session.execute(insert(RecordChunk), rows)


def remove_chunks_of_folder(session: WriteSession, account_id: str, folder_id: str) -> None:
    """Takes all of the folder's chunks away, out of the index too."""
    of_folder = RecordChunk.account_id == account_id, RecordChunk.folder_id == folder_id
    gone = list(session.scalars(select(RecordChunk.point_id).where(*of_folder)))
    record_removals(session, account_id, RECORDS.collection, gone)
    session.execute(delete(RecordChunk).where(*of_folder))


def chunks_by_point(
    session: ReadSession, account_id: str, folder_id: str | None, point_ids: Collection[int]
) -> dict[int, tuple[RecordChunk, FolderRecord]]:
    """Chunks of the folder, or of all the account's, by their id in the index, with their record.
    Ids that are gone or of another folder are left out."""
    of_folder = (RecordChunk.folder_id == folder_id,) if folder_id is not None else ()
    rows = session.execute(
        select(RecordChunk, FolderRecord)
        .join(FolderRecord, FolderRecord.id == RecordChunk.record_id)
        .where(
            RecordChunk.account_id == account_id,
            *of_folder,
            FolderRecord.account_id == account_id,
            FolderRecord.folder_id == RecordChunk.folder_id,
            FolderRecord.deleted_at.is_(None),
            FolderRecord.derived_with != "",  # else the chunks are of a former content
            RecordChunk.point_id.in_(list(point_ids)),
        )
    )
    return {chunk.point_id: (chunk, record) for chunk, record in rows}


def not_indexed(
    session: ReadSession, record_ids: Sequence[str], *, lexical: str, dense: str
) -> set[str]:
    """Those of the records of which the index lacks something under these signatures."""
    return set(
        session.scalars(
            select(RecordChunk.record_id)
            .where(
                RecordChunk.record_id.in_(record_ids),
                _lacks(lexical, dense),
            )
            .distinct()
        )
    )


def count_not_indexed(
    session: ReadSession, account_id: str, folder_id: str, *, lexical: str, dense: str
) -> int:
    """Chunks of the folder that the index lacks under these signatures."""
    return session.scalars(
        select(func.count()).where(
            RecordChunk.account_id == account_id,
            RecordChunk.folder_id == folder_id,
            _lacks(lexical, dense),
        )
    ).one()


def underived_records(
    session: ReadSession, account_id: str, made_with: str, *, limit: int
) -> list[str]:
    """Records whose chunks and propositions another maker made, or none."""
    return list(
        session.scalars(
            select(FolderRecord.id)
            .where(
                FolderRecord.account_id == account_id,
                FolderRecord.deleted_at.is_(None),
                FolderRecord.derived_with != made_with,
            )
            .order_by(FolderRecord.id)
            .limit(limit)
        )
    )


def _lacks(lexical: str, dense: str) -> ColumnElement[bool]:
    return or_(RECORDS.lacks_words(lexical), RECORDS.lacks_vector(dense))


def accounts_underived(session: ReadSession, made_with: str) -> list[str]:
    """Accounts with a record whose chunks and propositions another maker made, or none."""
    query = select(FolderRecord.account_id).where(
        FolderRecord.deleted_at.is_(None), FolderRecord.derived_with != made_with
    )
    return sorted(session.scalars(query.distinct()))


def record_with_folder(
    session: ReadSession, account_id: str, record_id: str
) -> tuple[FolderRecord, Folder] | None:
    """The record with its folder, both as they are now; None when it was deleted."""
    query = (
        select(FolderRecord, Folder)
        .join(Folder, Folder.id == FolderRecord.folder_id)
        .where(
            FolderRecord.id == record_id,
            FolderRecord.account_id == account_id,
            FolderRecord.deleted_at.is_(None),
        )
    )
    row = session.execute(query).first()
    return (row[0], row[1]) if row else None


def forget_derived(session: WriteSession, account_id: str, folder_id: str) -> None:
    """Notes that all records of the folder lack their chunks and propositions."""
    session.execute(
        update(FolderRecord)
        .where(FolderRecord.account_id == account_id, FolderRecord.folder_id == folder_id)
        .values(derived_with="")
    )
