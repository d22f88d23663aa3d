"""Records: Markdown texts with metadata, and every version of them.

Each write keeps the record as it leaves it as a revision, so nothing an agent overwrites is lost.
"""

import re
from collections.abc import Mapping
from typing import Any

from backread.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from backread.indexing import enqueue_embedding
from backread.jobs.scrubbing import scrub_later
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import FolderRecord
from backread.store.repositories import record_chunks
from backread.store.repositories import records as store
from recall.folders.access import FolderAccess, hold_folder
from recall.folders.deriving import MADE_WITH, RECORDS_COLLECTION, derive_later, derive_now
from recall.folders.metadata import checked_fields
from recall.folders.reading import get_record, index_marks, shown
from recall.folders.texts import check_storable
from recall.folders.views import RecordOut

MAX_NAME = 500
MAX_CONTENT = 200_000  # characters
MAX_DESCRIPTION = 4000
MOST_RECORDS = 100_000  # of a folder

_LIST_LINE = re.compile(r"\s*(?:[-+*•]|\d{1,3}[.)]|\|)\s?")


def create_record(
    kernel: Kernel,
    access: FolderAccess,
    name: str,
    content: str,
    *,
    metadata: Mapping[str, Any] | None = None,
    vector_description: str = "",
) -> RecordOut:
    """A new record. Names need not be unique. Raises AccessDenied for a key that may only read,
    InvalidInput and LimitExceeded for what cannot be stored."""
    access.check_writable()
    with kernel.store.write() as session:
        hold_folder(session, access.account_id, access.folder_id)
        if store.count_records(session, access.account_id, access.folder_id) >= MOST_RECORDS:
            raise LimitExceeded(f"The folder has {MOST_RECORDS} records.", hint="Delete some.")
        now = utcnow()
        record = FolderRecord(
            account_id=access.account_id,
            folder_id=access.folder_id,
            name=_checked_name(name),
            content=_checked_content(content),
            fields=checked_fields(metadata or {}),
            vector_description=_checked_description(vector_description),
            created_at=now,
            updated_at=now,
        )
        session.add(record)
        session.flush()
        _keep(session, access, record, "create")
    return _derived(kernel, access, record)


def update_record(
    kernel: Kernel,
    access: FolderAccess,
    record_id: str,
    *,
    content: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    operation: str = "replace",
    vector_description: str | None = None,
    name: str | None = None,
    expected_revision: int | None = None,
) -> RecordOut:
    """Changes what is given. `content` replaces the former, or is added to its end; metadata
    fields are set one by one, and those not named stay. A call that changes nothing makes no
    revision.

    Raises NotFound, AccessDenied, InvalidInput, LimitExceeded, and Conflict when
    `expected_revision` is given and is not the record's.
    """
    access.check_writable()
    if operation not in ("replace", "append"):
        raise InvalidInput(f"There is no operation “{operation}”.", hint="Use replace or append.")
    if content is None and metadata is None and vector_description is None and name is None:
        raise InvalidInput(
            "There is nothing to change.",
            hint="Give content, metadata or vector_description.",
        )
    with kernel.store.write() as session:
        record = _held(session, access, record_id)
        _check_revision(record, expected_revision)
        before = _state(record)
        if content is not None:
            whole = content if operation == "replace" else joined(record.content, content)
            record.content = _checked_content(whole)
        if metadata is not None:
            record.fields = checked_fields({**record.fields, **metadata})
        if vector_description is not None:
            record.vector_description = _checked_description(vector_description)
        if name is not None:
            record.name = _checked_name(name)
        if _state(record) != before:
            _next_revision(session, access, record, operation)
    return _derived(kernel, access, record)


def replace_record(
    kernel: Kernel,
    access: FolderAccess,
    record_id: str,
    *,
    name: str,
    content: str,
    metadata: Mapping[str, Any],
    vector_description: str,
    expected_revision: int | None = None,
) -> RecordOut:
    """Makes the record exactly this: fields that are not named go. Raises as `update_record`."""
    access.check_writable()
    with kernel.store.write() as session:
        record = _held(session, access, record_id)
        _check_revision(record, expected_revision)
        before = _state(record)
        record.name = _checked_name(name)
        record.content = _checked_content(content)
        record.fields = checked_fields(metadata)
        record.vector_description = _checked_description(vector_description)
        if _state(record) != before:
            _next_revision(session, access, record, "replace")
    return _derived(kernel, access, record)


def delete_record(
    kernel: Kernel, access: FolderAccess, record_id: str, *, expected_revision: int | None = None
) -> None:
    """Takes the record out of the folder and the index. It can be restored. Raises NotFound,
    AccessDenied, and Conflict as `update_record`."""
    access.check_writable()
    with kernel.store.write() as session:
        record = _held(session, access, record_id)
        _check_revision(record, expected_revision)
        record.deleted_at = utcnow()
        _next_revision(session, access, record, "delete")
        record_chunks.replace_chunks(session, record, [])
        store.replace_propositions(session, record.id, [])
        enqueue_embedding(session, access.account_id, RECORDS_COLLECTION)


def purge_record(kernel: Kernel, access: FolderAccess, record_id: str) -> None:
    """Takes a deleted record away for good, with its history. Raises NotFound, AccessDenied, and
    Conflict while it is not deleted."""
    access.check_writable()
    with kernel.store.write() as session:
        record = _held(session, access, record_id, with_deleted=True)
        if record.deleted_at is None:
            raise Conflict("The record is not deleted.", hint="Delete it first.")
        session.delete(record)
        scrub_later(session)


def restore_record(
    kernel: Kernel,
    access: FolderAccess,
    record_id: str,
    number: int | None = None,
    *,
    expected_revision: int | None = None,
) -> RecordOut:
    """Makes the record what revision `number` was, or brings a deleted one back as it was last.
    That is a write of its own: nothing of the history goes. Raises NotFound, AccessDenied, and
    Conflict as `update_record`."""
    access.check_writable()
    with kernel.store.write() as session:
        record = _held(session, access, record_id, with_deleted=True)
        _check_revision(record, expected_revision)
        wanted = store.find_revision(session, record, number or record.revision)
        if wanted is None:
            raise NotFound(
                f"The record has no revision {number}.", hint="Its history has those there are."
            )
        record.name, record.content = wanted.name, wanted.content
        record.fields, record.vector_description = wanted.fields, wanted.vector_description
        record.deleted_at = None
        _next_revision(session, access, record, "restore")
    return _derived(kernel, access, record)


def joined(former: str, added: str) -> str:
    """`added` as a paragraph of its own behind `former`; a list item or table row goes right
    below the list or table that `former` ends with."""
    if not former or added.startswith("\n") or former.endswith("\n\n"):
        return former + added
    last = former.rstrip("\n").rsplit("\n", 1)[-1]
    goes_on = _LIST_LINE.match(last) and _LIST_LINE.match(added)
    wanted = 1 if goes_on else 2
    return former + "\n" * (wanted - former.endswith("\n")) + added


def _held(
    session: WriteSession, access: FolderAccess, record_id: str, *, with_deleted: bool = False
) -> FolderRecord:
    """The record, which nobody else changes until the transaction ends. Raises NotFound."""
    hold_folder(session, access.account_id, access.folder_id)
    return get_record(session, access, record_id, for_update=True, with_deleted=with_deleted)


def _state(record: FolderRecord) -> tuple[Any, ...]:
    return record.name, record.content, record.fields, record.vector_description


def _next_revision(
    session: WriteSession, access: FolderAccess, record: FolderRecord, operation: str
) -> None:
    record.revision += 1
    record.updated_at = utcnow()
    session.flush()
    _keep(session, access, record, operation)


def _keep(
    session: WriteSession, access: FolderAccess, record: FolderRecord, operation: str
) -> None:
    store.add_revision(session, record, operation, access.writer)
    store.replace_fields(session, record)
    derive_later(session, record)


def _derived(kernel: Kernel, access: FolderAccess, record: FolderRecord) -> RecordOut:
    if record.derived_with != MADE_WITH:
        derive_now(kernel, record)
    marks = index_marks(kernel)
    with kernel.store.read() as session:
        found = get_record(session, access, record.id)
        (view,) = shown(session, access, [found], marks=marks)
    return view


def _check_revision(record: FolderRecord, expected: int | None) -> None:
    if expected is not None and expected != record.revision:
        raise Conflict(
            "The record was changed meanwhile.",
            hint=f"Read it again: it is at revision {record.revision}, not {expected}.",
        )


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > MAX_NAME:
        raise InvalidInput(f"A record needs a name of at most {MAX_NAME} characters.")
    check_storable("the name", name)
    return name


def _checked_content(content: str) -> str:
    if not content.strip():
        raise InvalidInput("The content is empty.", hint="Give the text to keep.")
    if len(content) > MAX_CONTENT:
        raise LimitExceeded(
            f"A record may have {MAX_CONTENT} characters; this one has {len(content)}.",
            hint="Split it into several records.",
        )
    check_storable("the content", content)
    return content


def _checked_description(description: str) -> str:
    description = description.strip()
    if len(description) > MAX_DESCRIPTION:
        raise LimitExceeded(f"vector_description may have {MAX_DESCRIPTION} characters.")
    check_storable("vector_description", description)
    return description
