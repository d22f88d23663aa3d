"""Documents: texts of their own, such as those of a project."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from sqlalchemy import func, insert, select, update

from backread.domain import Principal
from backread.errors import NotFound
from backread.identity import new_id
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Document
from backread.store.repositories.chunks import chunks


class DocumentRow(TypedDict):
    account_id: str
    platform: str
    external_id: str
    kind: str
    name: str
    project: str
    project_external_id: str
    media_type: str
    text: str
    size_bytes: int
    sha256: str
    created_at: datetime | None
    updated_at: datetime | None
    import_id: str | None


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document without its text."""

    id: str
    platform: str
    external_id: str
    kind: str
    name: str
    project: str
    project_external_id: str
    media_type: str
    size_bytes: int
    sha256: str
    created_at: datetime | None
    updated_at: datetime | None
    imported_at: datetime


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Empty fields do not filter. `project` is the platform's id of a project."""

    platform: str = ""
    project: str = ""


def documents_by_external_id(
    session: ReadSession, account_id: str, platform: str, external_ids: Sequence[str]
) -> dict[str, Document]:
    """Those that are stored already, by the platform's id."""
    found: dict[str, Document] = {}
    query = select(Document).where(Document.account_id == account_id, Document.platform == platform)
    for some in chunks(external_ids):
        for row in session.scalars(query.where(Document.external_id.in_(some))):
            found[row.external_id] = row
    return found


def insert_documents(session: WriteSession, rows: Sequence[DocumentRow]) -> None:
    if rows:
        now = utcnow()
        session.execute(
            insert(Document),
            [{**row, "id": new_id(), "imported_at": now, "changed_at": now} for row in rows],
        )


def update_document(session: WriteSession, document_id: str, row: DocumentRow) -> None:
    """Sets everything that a later export says of it."""
    session.execute(
        update(Document)
        .where(Document.id == document_id)
        .values(**row, changed_at=utcnow())
        .execution_options(synchronize_session=False)
    )


def list_documents(
    session: ReadSession,
    principal: Principal,
    wanted: DocumentFilter,
    *,
    offset: int = 0,
    limit: int = 200,
) -> list[ListedDocument]:
    """By project and name, instructions and descriptions before what the project holds."""
    columns = [getattr(Document, name) for name in ListedDocument.__slots__]
    query = select(*columns).where(Document.account_id == principal.account_id)
    if wanted.platform:
        query = query.where(Document.platform == wanted.platform)
    if wanted.project:
        query = query.where(Document.project_external_id == wanted.project)
    query = query.order_by(
        func.lower(Document.project),
        Document.project_external_id,
        Document.kind == "document",
        func.lower(Document.name),
        Document.id,
    )
    return [ListedDocument(*row) for row in session.execute(query.offset(offset).limit(limit))]


def count_documents(session: ReadSession, principal: Principal, wanted: DocumentFilter) -> int:
    """How many the filter leaves."""
    query = select(func.count()).where(Document.account_id == principal.account_id)
    if wanted.platform:
        query = query.where(Document.platform == wanted.platform)
    if wanted.project:
        query = query.where(Document.project_external_id == wanted.project)
    return session.scalar(query) or 0


def find_document(session: ReadSession, principal: Principal, document_id: str) -> Document:
    """Raises NotFound when there is none, or it is another account's."""
    found = session.get(Document, document_id)
    if found is None or found.account_id != principal.account_id:
        raise NotFound("There is no such file.", hint="It may have been deleted.")
    return found
