"""Record folders in Backread's own archive: the folders, their records, and all revisions. Access
keys stay behind: they are secrets of the installation, and new ones are made in a moment."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from backread.identity import derived_id
from backread.jobs import enqueue
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Folder, FolderRecord, RecordRevision
from backread.store.repositories import folders, records
from ingest.importers.base import dict_in, text_in, time_in
from ingest.own_archive.form import FOLDER, FOLDER_RECORD, RECORD_REVISION, Record

_NAME_CHARS = 200
_RECORD_NAME_CHARS = 500
_ID_CHARS = 26
_PAGE = 100
_OPERATIONS = frozenset({"create", "replace", "append", "restore", "delete", "import"})
_SCALARS = (str, int, float, bool, type(None))


def folder_records(kernel: Kernel, account_id: str) -> Iterator[tuple[str, Record]]:
    """Kind and record: the folders, then each record followed by its revisions, oldest first."""
    with kernel.store.read() as session:
        found = [each.folder for each in folders.folders_of(session, account_id)]
    for folder in found:
        yield (
            FOLDER,
            {
                "name": folder.name,
                "generate_embeddings": folder.generate_embeddings,
                "vector_description": folder.vector_description,
                "created_at": folder.created_at,
            },
        )
    for folder in found:
        after = ""
        while True:
            with kernel.store.read() as session:
                rows = records.all_records(
                    session, account_id, folder.id, after_id=after, limit=_PAGE
                )
            if not rows:
                break
            for row in rows:
                yield from _records_of(kernel, folder, row)
            after = rows[-1].id


def _records_of(kernel: Kernel, folder: Folder, row: FolderRecord) -> Iterator[tuple[str, Record]]:
    yield (
        FOLDER_RECORD,
        {
            "folder": folder.name,
            "id": row.id,
            "name": row.name,
            "content": row.content,
            "metadata": row.fields,
            "vector_description": row.vector_description,
            "revision": row.revision,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "deleted_at": row.deleted_at,
        },
    )
    number = 0
    while True:  # one in memory at a time: each holds the whole text
        with kernel.store.read() as session:
            revision = records.next_revision(session, row, number)
        if revision is None:
            return
        number = revision.number
        yield (
            RECORD_REVISION,
            {
                "folder": folder.name,
                "record": row.id,
                "number": revision.number,
                "operation": revision.operation,
                "name": revision.name,
                "content": revision.content,
                "metadata": revision.fields,
                "vector_description": revision.vector_description,
                "made_by": revision.made_by,
                "created_at": revision.created_at,
            },
        )


def take_folder(session: WriteSession, account_id: str, record: Record) -> str:
    name = text_in(record.get("name")).strip()[:_NAME_CHARS]
    if not name:
        return ":wrong"
    if folders.find_folder_named(session, account_id, name) is not None:
        return ":known"
    session.add(
        Folder(
            account_id=account_id,
            name=name,
            generate_embeddings=record.get("generate_embeddings") is not False,
            vector_description=_exact(record, "vector_description"),
            created_at=_past(record, "created_at"),
        )
    )
    session.flush()
    return ""


def take_folder_record(session: WriteSession, account_id: str, record: Record) -> str:
    """A record that is here already stays as it is."""
    folder = folders.find_folder_named(session, account_id, text_in(record.get("folder")).strip())
    named = text_in(record.get("id"))
    name = text_in(record.get("name"))[:_RECORD_NAME_CHARS]
    if folder is None or not name.strip() or not 0 < len(named) <= _ID_CHARS:
        return ":wrong"
    own = _own_id(session, account_id, named)
    if records.find_any_record(session, own) is not None:
        return ":known"
    row = FolderRecord(
        id=own,
        account_id=account_id,
        folder_id=folder.id,
        name=name,
        content=_exact(record, "content"),
        fields=_fields(record),
        vector_description=_exact(record, "vector_description"),
        revision=_number(record, "revision"),
        created_at=_past(record, "created_at"),
        updated_at=_past(record, "updated_at"),
        deleted_at=time_in(record.get("deleted_at")),
    )
    session.add(row)
    session.flush()
    records.replace_fields(session, row)
    enqueue(
        session,
        "recall.derive_records",
        account_id=account_id,
        dedupe_key=f"derive_records:{account_id}",
    )
    return ""


def take_record_revision(session: WriteSession, account_id: str, record: Record) -> str:
    """Of a record that has come before it."""
    own = _own_id(session, account_id, text_in(record.get("record"))[:_ID_CHARS])
    row = records.find_any_record(session, own)
    operation, number = text_in(record.get("operation")), _number(record, "number")
    if row is None or row.account_id != account_id or operation not in _OPERATIONS:
        return ":wrong"
    if number > row.revision or records.find_revision(session, row, number) is not None:
        return ":known"
    session.add(
        RecordRevision(
            record_id=row.id,
            number=number,
            operation=operation,
            name=text_in(record.get("name"))[:_RECORD_NAME_CHARS],
            content=_exact(record, "content"),
            fields=_fields(record),
            vector_description=_exact(record, "vector_description"),
            made_by=text_in(record.get("made_by"))[:120],
            created_at=_past(record, "created_at"),
        )
    )
    session.flush()
    return ""


def _own_id(session: WriteSession, account_id: str, named: str) -> str:
    """The record's id, which agents may have noted; another one when somebody else here has it,
    the same on every import."""
    there = records.find_any_record(session, named)
    taken = there is not None and there.account_id != account_id
    return derived_id(account_id, named) if taken else named


def _exact(record: Record, key: str) -> str:
    """A text with its line ends as they were."""
    text = record.get(key)
    return text if isinstance(text, str) else ""


def _fields(record: Record) -> dict[str, Any]:
    given = dict_in(record.get("metadata"))
    return {key: value for key, value in given.items() if key and isinstance(value, _SCALARS)}


def _number(record: Record, key: str) -> int:
    number = record.get(key)
    return number if isinstance(number, int) and 0 < number < 2**31 else 1


def _past(record: Record, key: str) -> datetime:
    """The record's time; now for one that is missing or lies ahead."""
    now = utcnow()
    return min(time_in(record.get(key)) or now, now)
