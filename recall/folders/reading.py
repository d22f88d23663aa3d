"""Reading records: one, those that match, their facts and their history."""

from collections.abc import Iterable, Sequence
from typing import Any

from backread.errors import InvalidInput, NotFound, Unavailable
from backread.kernel import Kernel
from backread.store.engine import ReadSession
from backread.store.models import FolderRecord, RecordRevision
from backread.store.repositories import folders, record_chunks
from backread.store.repositories import records as store
from recall.folders.access import FolderAccess
from recall.folders.deriving import MADE_WITH
from recall.folders.metadata import checked_conditions
from recall.folders.propositions import propositions
from recall.folders.views import (
    ListedRecord,
    PropositionList,
    PropositionOut,
    RecordHistory,
    RecordList,
    RecordOut,
    RecordPage,
    RevisionLine,
    RevisionOut,
)

IndexMarks = tuple[str, str] | None

PAGE_RECORDS = 50
PAGE_CHARACTERS = 60_000  # of contents; a page has one record at least
PAGE_LISTED = 1000
PAGE_REVISIONS = 100


def find_record(
    kernel: Kernel, access: FolderAccess, *, record_id: str | None = None, name: str | None = None
) -> tuple[RecordOut, int]:
    """The record by its id or exact name, and how many others have the same name: of several the
    one that was written last. Raises NotFound, and InvalidInput unless exactly one is given."""
    if (record_id is None) == (name is None):
        raise InvalidInput("Give either recordId or name.")
    marks = index_marks(kernel)
    with kernel.store.read() as session:
        if record_id is not None:
            found = [get_record(session, access, record_id)]
        else:
            assert name is not None
            account_id, folder_id = access.account_id, access.folder_id
            found = list(store.records_named(session, account_id, folder_id, name))
            if not found:
                raise NotFound(
                    "There is no record with this name.",
                    hint="list_records has all names; vector_search finds by meaning.",
                )
        (record,) = shown(session, access, found[:1], marks=marks)
    return record, len(found) - 1


def query_records(
    kernel: Kernel,
    access: FolderAccess,
    *,
    name: str | None = None,
    conditions: Iterable[tuple[str, Any]] = (),
    cursor: str = "",
    limit: int = PAGE_RECORDS,
) -> RecordPage:
    """Records with this exact name and all of these metadata values. Raises InvalidInput."""
    wanted = checked_conditions(conditions)
    account_id, folder_id = access.account_id, access.folder_id
    marks = index_marks(kernel)
    with kernel.store.read() as session:
        rows = store.list_records(
            session,
            account_id,
            folder_id,
            name=name,
            conditions=wanted,
            after_id=cursor,
            limit=limit + 1,
        )
        total = store.count_records(session, account_id, folder_id, name=name, conditions=wanted)
        page = rows[: _fitting(rows[:limit])]
        found = shown(session, access, page, marks=marks)
    return RecordPage(
        records=found, total=total, next_cursor=page[-1].id if len(rows) > len(page) else ""
    )


def list_records(
    kernel: Kernel,
    access: FolderAccess,
    *,
    conditions: Iterable[tuple[str, Any]] = (),
    cursor: str = "",
    limit: int = PAGE_LISTED,
) -> RecordList:
    """As `query_records`, without contents."""
    wanted = checked_conditions(conditions)
    account_id, folder_id = access.account_id, access.folder_id
    with kernel.store.read() as session:
        rows = store.list_records(
            session, account_id, folder_id, conditions=wanted, after_id=cursor, limit=limit + 1
        )
        total = store.count_records(session, account_id, folder_id, conditions=wanted)
    listed = [
        ListedRecord(id=row.id, name=row.name, created_at=row.created_at) for row in rows[:limit]
    ]
    return RecordList(
        records=listed, total=total, next_cursor=listed[-1].id if len(rows) > limit else ""
    )


def get_propositions(kernel: Kernel, access: FolderAccess, record_id: str) -> PropositionList:
    """The facts that the record states, as of now. Raises NotFound."""
    with kernel.store.read() as session:
        record = get_record(session, access, record_id)
        rows = store.propositions_of(session, record)
    if record.derived_with == MADE_WITH:
        facts = [PropositionOut(text=row.text, start=row.start, end=row.end) for row in rows]
    else:  # written a moment ago: the job has not come to it yet
        made = propositions(record.name, record.content)
        facts = [PropositionOut(text=each.text, start=each.start, end=each.end) for each in made]
    return PropositionList(record_id=record.id, record_name=record.name, propositions=facts)


def history(
    kernel: Kernel, access: FolderAccess, record_id: str, *, before: int | None = None
) -> RecordHistory:
    """What was written and when, newest first, of a deleted record too; a page that ends before
    revision `before`. Raises NotFound."""
    with kernel.store.read() as session:
        record = get_record(session, access, record_id, with_deleted=True)
        rows = store.revisions_of(session, record, before=before, limit=PAGE_REVISIONS + 1)
    items = [RevisionLine.model_validate(row) for row in rows[:PAGE_REVISIONS]]
    has_more = len(rows) > PAGE_REVISIONS
    return RecordHistory(items=items, next_before=items[-1].number if has_more else None)


def revision(
    kernel: Kernel, access: FolderAccess, record_id: str, number: int | None = None
) -> tuple[RevisionOut, RevisionOut | None]:
    """The record as one write left it, the latest without a number, and as the write before left
    it; None before the first. Raises NotFound."""
    with kernel.store.read() as session:
        record = get_record(session, access, record_id, with_deleted=True)
        wanted = record.revision if number is None else number
        found = store.find_revision(session, record, wanted) if 0 < wanted < 2**31 else None
        if found is None:
            raise NotFound(
                f"The record has no revision {number}.", hint="Its history has those there are."
            )
        former = store.find_revision(session, record, wanted - 1)
    return revision_view(found), revision_view(former) if former else None


def deleted_records(
    kernel: Kernel, access: FolderAccess, *, limit: int = 200
) -> list[ListedRecord]:
    """Records that can be restored, the latest deletion first."""
    with kernel.store.read() as session:
        rows = store.deleted_records(session, access.account_id, access.folder_id, limit=limit)
    return [ListedRecord(id=row.id, name=row.name, created_at=row.created_at) for row in rows]


def revision_view(row: RecordRevision) -> RevisionOut:
    return RevisionOut(
        number=row.number,
        operation=row.operation,
        name=row.name,
        content=row.content,
        metadata=row.fields,
        vector_description=row.vector_description,
        made_by=row.made_by,
        created_at=row.created_at,
    )


def _fitting(rows: Sequence[FolderRecord]) -> int:
    """How many of the rows fit on a page by their contents."""
    characters = 0
    for count, row in enumerate(rows):
        characters += len(row.content)
        if characters > PAGE_CHARACTERS and count:
            return count
    return len(rows)


def get_record(
    session: ReadSession,
    access: FolderAccess,
    record_id: str,
    *,
    for_update: bool = False,
    with_deleted: bool = False,
) -> FolderRecord:
    """Raises NotFound for an unknown id, a deleted record and another folder's alike."""
    record = store.find_record(
        session,
        access.account_id,
        access.folder_id,
        record_id,
        for_update=for_update,
        with_deleted=with_deleted,
    )
    if record is None:
        raise NotFound(
            "There is no record with this id in the folder.",
            hint="list_records has the ids of all records.",
        )
    return record


def index_marks(kernel: Kernel) -> IndexMarks:
    """What rows are marked with that the index has as they are, for words and for meaning; None
    while the index cannot be reached, which keeps nobody from reading records.

    Not to be asked for within a session: it may read by itself, and whoever waits for a second
    connection while he holds one keeps others from theirs.
    """
    try:
        return kernel.index.lexical_signature, kernel.dense_signature
    except Unavailable:
        return None


def shown(
    session: ReadSession,
    access: FolderAccess,
    rows: Sequence[FolderRecord],
    *,
    marks: IndexMarks,
) -> list[RecordOut]:
    """The records as they are handed out. `marks` are `index_marks`, asked for before the session
    was opened."""
    folder = folders.find_folder(session, access.account_id, access.folder_id)
    is_indexed_here = folder is not None and folder.generate_embeddings
    waiting = (
        record_chunks.not_indexed(
            session,
            [row.id for row in rows],
            lexical=marks[0],
            dense=marks[1],
        )
        if is_indexed_here and rows and marks
        else {row.id for row in rows}
    )
    return [_view(row, _indexing(row, is_indexed_here, row.id in waiting)) for row in rows]


def _indexing(row: FolderRecord, is_on: bool, is_waiting: bool) -> str:
    if not is_on:
        return "off"
    return "waiting" if is_waiting or row.derived_with != MADE_WITH else "indexed"


def _view(row: FolderRecord, indexing: str) -> RecordOut:
    return RecordOut(
        id=row.id,
        name=row.name,
        content=row.content,
        metadata=row.fields,
        vector_description=row.vector_description,
        created_at=row.created_at,
        updated_at=row.updated_at,
        revision=row.revision,
        indexing=indexing,
    )
