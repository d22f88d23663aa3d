"""Pages and passages of uploaded documents, and passages of the documents of projects."""

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from sqlalchemy import ColumnElement, delete, func, insert, or_, select

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import (
    Document,
    DocumentReading,
    File,
    FileBucket,
    FilePage,
    FilePassage,
)
from backread.store.repositories.removals import record_removals

COLLECTION = "files"
PROJECTS_GROUP = "projects"  # instead of a bucket's number, for documents of projects


class PassageValues(TypedDict):
    """A passage before it is stored."""

    first_page: int
    last_page: int
    start_offset: int
    end_offset: int
    location: str
    heading: str
    text: str
    token_count: int


class PageValues(TypedDict):
    number: int
    label: str
    text: str
    has_table: bool
    by_ocr: bool


@dataclass(frozen=True, slots=True)
class FoundInFile:
    """A passage with what names its source: either file and bucket, or a project's document."""

    passage: FilePassage
    file: File | None
    bucket: FileBucket | None
    document: Document | None


def store_pages(
    session: WriteSession, account_id: str, file_id: str, pages: Iterable[PageValues]
) -> None:
    """Those of a file that has none."""
    rows = [{**page, "account_id": account_id, "file_id": file_id} for page in pages]
    if rows:
        session.execute(insert(FilePage), rows)


def store_passages(
    session: WriteSession,
    account_id: str,
    passages: Sequence[PassageValues],
    *,
    group_name: str,
    occurred_at: datetime | None,
    file_id: str | None = None,
    document_id: str | None = None,
) -> list[int]:
    """In reading order; returns their numbers in the index."""
    points = [secrets.randbits(62) for _ in passages]
    if passages:
        session.execute(
            insert(FilePassage),
            [
                {
                    **passage,
                    "point_id": point,
                    "account_id": account_id,
                    "file_id": file_id,
                    "document_id": document_id,
                    "group_name": group_name,
                    "position": position,
                    "occurred_at": occurred_at,
                }
                for position, (point, passage) in enumerate(zip(points, passages, strict=True))
            ],
        )
    return points


def delete_derived(session: WriteSession, account_id: str, file_ids: Sequence[str]) -> int:
    """Pages and passages of the files, and asks the index to forget them; returns how many
    passages there were."""
    count = _delete_passages(session, account_id, FilePassage.file_id.in_(file_ids))
    session.execute(
        delete(FilePage)
        .where(FilePage.account_id == account_id, FilePage.file_id.in_(file_ids))
        .execution_options(synchronize_session=False)
    )
    return count


def delete_document_passages(session: WriteSession, account_id: str, document_id: str) -> int:
    return _delete_passages(session, account_id, FilePassage.document_id == document_id)


def _delete_passages(session: WriteSession, account_id: str, condition: ColumnElement[bool]) -> int:
    points = list(
        session.scalars(
            delete(FilePassage)
            .where(FilePassage.account_id == account_id, condition)
            .returning(FilePassage.point_id)
            .execution_options(synchronize_session=False)
        )
    )
    record_removals(session, account_id, COLLECTION, points)
    return len(points)


def page_of(session: ReadSession, account_id: str, file_id: str, number: int) -> FilePage | None:
    page = session.get(FilePage, (file_id, number))
    return page if page is not None and page.account_id == account_id else None


def page_labels(session: ReadSession, account_id: str, file_id: str) -> list[tuple[int, str]]:
    query = select(FilePage.number, FilePage.label).where(
        FilePage.account_id == account_id, FilePage.file_id == file_id
    )
    return [(number, label) for number, label in session.execute(query.order_by(FilePage.number))]


def passage_at(
    session: ReadSession, account_id: str, source_id: str, position: int
) -> FilePassage | None:
    """The passage of a file, or of a project's document, by its place in it."""
    return session.scalar(
        select(FilePassage).where(
            FilePassage.account_id == account_id,
            or_(FilePassage.file_id == source_id, FilePassage.document_id == source_id),
            FilePassage.position == position,
        )
    )


def passages_by_point(
    session: ReadSession, account_id: str, points: Collection[int]
) -> dict[int, FoundInFile]:
    """By their number in the index. Those that are gone or another account's are left out, and
    those of files that are being read again."""
    rows = session.execute(
        select(FilePassage, File, FileBucket, Document)
        .outerjoin(File, File.id == FilePassage.file_id)
        .outerjoin(FileBucket, FileBucket.id == File.bucket_id)
        .outerjoin(Document, Document.id == FilePassage.document_id)
        .where(FilePassage.account_id == account_id, FilePassage.point_id.in_(list(points)))
    )
    return {row[0].point_id: FoundInFile(*row) for row in rows}


def passages_not_indexed(
    session: ReadSession,
    account_id: str,
    signature: str,
    *,
    groups: Sequence[str],
    limit: int = 2000,
) -> list[FilePassage]:
    """Passages whose words the index does not have under the signature."""
    column = FilePassage.lexical_with
    query = select(FilePassage).where(
        FilePassage.account_id == account_id,
        or_(column < signature, column > signature),
        FilePassage.group_name.in_(groups),
    )
    return list(session.scalars(query.limit(limit)))


def count_passages(session: ReadSession, account_id: str, groups: Sequence[str]) -> int:
    query = select(func.count()).where(
        FilePassage.account_id == account_id, FilePassage.group_name.in_(groups)
    )
    return session.scalar(query) or 0


def documents_to_read(
    session: ReadSession, account_id: str, reader_version: int, *, limit: int
) -> list[Document]:
    """Documents of projects whose present text has no passages yet."""
    query = select(Document).outerjoin(*_READING).where(_is_unread(reader_version))
    query = query.where(Document.account_id == account_id).order_by(Document.id)
    return list(session.scalars(query.limit(limit)))


def count_documents_to_read(session: ReadSession, account_id: str, reader_version: int) -> int:
    query = select(func.count(Document.id)).outerjoin(*_READING).where(_is_unread(reader_version))
    return session.scalar(query.where(Document.account_id == account_id)) or 0


def accounts_with_unread_documents(session: ReadSession, reader_version: int) -> list[str]:
    query = select(Document.account_id).outerjoin(*_READING).where(_is_unread(reader_version))
    return sorted(session.scalars(query.distinct()))


_READING = (DocumentReading, DocumentReading.document_id == Document.id)


def _is_unread(reader_version: int) -> ColumnElement[bool]:
    return or_(
        DocumentReading.document_id.is_(None),
        DocumentReading.sha256 != Document.sha256,
        DocumentReading.name != Document.name,
        DocumentReading.reader_version != reader_version,
    )


def forget_documents_read(session: WriteSession, account_id: str) -> None:
    """Has all documents cut into passages anew; until then the present ones are found."""
    session.execute(
        delete(DocumentReading)
        .where(DocumentReading.account_id == account_id)
        .execution_options(synchronize_session=False)
    )


def note_document_read(session: WriteSession, document: Document, reader_version: int) -> None:
    session.merge(
        DocumentReading(
            document_id=document.id,
            account_id=document.account_id,
            sha256=document.sha256,
            name=document.name,
            reader_version=reader_version,
        )
    )
