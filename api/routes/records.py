"""Records of a folder, for scripts.

A record's revision is its ETag. Whoever sends it back as If-Match changes only that revision, and
is refused with 409 when the record has changed since; without it the last writer wins.
"""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from api.deps import CsrfDep, KernelDep, MemoryReaderDep, MemoryWriterDep
from api.etags import ANY, etag_of, expected_version
from api.schemas.folders import (
    DeletedRecords,
    RecordChange,
    RecordIn,
    RecordRestore,
)
from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from recall.folders import reading, records
from recall.folders.access import FolderAccess, owner_access
from recall.folders.metadata import MOST_FIELDS
from recall.folders.views import (
    PropositionList,
    RecordHistory,
    RecordList,
    RecordOut,
    RecordPage,
    RevisionOut,
)

_IfMatch = Annotated[str, Header(description="The ETag of the revision to change.")]
_Where = Annotated[
    list[str],
    Query(
        max_length=MOST_FIELDS,
        description='Metadata that a record must have, as key=value with JSON: status="active", '
        "year=2024. All must hold.",
    ),
]

_NO_REVISION = 0  # what is no number is the tag of no revision

router = APIRouter(prefix="/folders/{folder_id}", tags=["folders"])


@router.get("/records")
def get_records(
    kernel: KernelDep,
    principal: MemoryReaderDep,
    folder_id: str,
    name: Annotated[str | None, Query(description="The exact name.")] = None,
    where: _Where = [],  # noqa: B006 - FastAPI copies it
    cursor: Annotated[str, Query(description="`next_cursor` of a page.")] = "",
) -> RecordPage:
    """Records with their contents, oldest first."""
    return reading.query_records(
        kernel,
        _access(kernel, principal, folder_id),
        name=name,
        conditions=_conditions(where),
        cursor=cursor,
    )


@router.get("/record-names")
def get_record_names(
    kernel: KernelDep,
    principal: MemoryReaderDep,
    folder_id: str,
    where: _Where = [],  # noqa: B006 - FastAPI copies it
    cursor: Annotated[str, Query(description="`next_cursor` of a page.")] = "",
) -> RecordList:
    """The same without contents, a thousand at a time."""
    return reading.list_records(
        kernel,
        _access(kernel, principal, folder_id),
        conditions=_conditions(where),
        cursor=cursor,
    )


@router.get("/deleted-records")
def get_deleted_records(
    kernel: KernelDep, principal: MemoryReaderDep, folder_id: str
) -> DeletedRecords:
    """Deleted records, which can be restored; the latest 200."""
    access = _access(kernel, principal, folder_id)
    return DeletedRecords(items=reading.deleted_records(kernel, access))


@router.post("/records", status_code=201, dependencies=[CsrfDep])
def post_record(
    kernel: KernelDep,
    response: Response,
    principal: MemoryWriterDep,
    folder_id: str,
    wanted: RecordIn,
) -> RecordOut:
    """Makes a record."""
    record = records.create_record(
        kernel,
        _access(kernel, principal, folder_id),
        wanted.name,
        wanted.content,
        metadata=wanted.metadata,
        vector_description=wanted.vector_description,
    )
    return _tagged(response, record)


@router.get("/records/{record_id}")
def get_record(
    kernel: KernelDep,
    response: Response,
    principal: MemoryReaderDep,
    folder_id: str,
    record_id: str,
) -> RecordOut:
    """One record, with its revision as ETag."""
    access = _access(kernel, principal, folder_id)
    record, _ = reading.find_record(kernel, access, record_id=record_id)
    return _tagged(response, record)


@router.put("/records/{record_id}", dependencies=[CsrfDep])
def put_record(
    kernel: KernelDep,
    response: Response,
    principal: MemoryWriterDep,
    folder_id: str,
    record_id: str,
    wanted: RecordIn,
    if_match: _IfMatch = "",
) -> RecordOut:
    """Makes the record exactly this."""
    record = records.replace_record(
        kernel,
        _access(kernel, principal, folder_id),
        record_id,
        name=wanted.name,
        content=wanted.content,
        metadata=wanted.metadata,
        vector_description=wanted.vector_description,
        expected_revision=_revision(if_match),
    )
    return _tagged(response, record)


@router.patch("/records/{record_id}", dependencies=[CsrfDep])
def patch_record(
    kernel: KernelDep,
    response: Response,
    principal: MemoryWriterDep,
    folder_id: str,
    record_id: str,
    wanted: RecordChange,
    if_match: _IfMatch = "",
) -> RecordOut:
    """Changes a part, as update_memory does."""
    record = records.update_record(
        kernel,
        _access(kernel, principal, folder_id),
        record_id,
        name=wanted.name,
        content=wanted.content,
        operation=wanted.operation,
        metadata=wanted.metadata,
        vector_description=wanted.vector_description,
        expected_revision=_revision(if_match),
    )
    return _tagged(response, record)


@router.delete("/records/{record_id}", status_code=204, dependencies=[CsrfDep])
def delete_record(
    kernel: KernelDep,
    principal: MemoryWriterDep,
    folder_id: str,
    record_id: str,
    permanently: Annotated[
        bool, Query(description="Takes a record that is deleted already away, with its history.")
    ] = False,
    if_match: _IfMatch = "",
) -> None:
    """Takes a record out of the folder, so that it can be restored; or, a second time, for
    good."""
    access = _access(kernel, principal, folder_id)
    if permanently:
        records.purge_record(kernel, access, record_id)
        return
    records.delete_record(kernel, access, record_id, expected_revision=_revision(if_match))


@router.get("/records/{record_id}/history")
def get_record_history(
    kernel: KernelDep,
    principal: MemoryReaderDep,
    folder_id: str,
    record_id: str,
    before: Annotated[int | None, Query(ge=1, description="`next_before` of a page.")] = None,
) -> RecordHistory:
    """Every write of the record, newest first, of a deleted one too."""
    access = _access(kernel, principal, folder_id)
    return reading.history(kernel, access, record_id, before=before)


@router.get("/records/{record_id}/history/{number}")
def get_record_revision(
    kernel: KernelDep, principal: MemoryReaderDep, folder_id: str, record_id: str, number: int
) -> RevisionOut:
    """The record as one write left it."""
    access = _access(kernel, principal, folder_id)
    found, _ = reading.revision(kernel, access, record_id, number)
    return found


@router.get("/records/{record_id}/propositions")
def get_record_propositions(
    kernel: KernelDep, principal: MemoryReaderDep, folder_id: str, record_id: str
) -> PropositionList:
    """The facts that the record states, each with where it does."""
    access = _access(kernel, principal, folder_id)
    return reading.get_propositions(kernel, access, record_id)


@router.post("/records/{record_id}/restore", dependencies=[CsrfDep])
def post_record_restore(
    kernel: KernelDep,
    response: Response,
    principal: MemoryWriterDep,
    folder_id: str,
    record_id: str,
    wanted: RecordRestore,
    if_match: _IfMatch = "",
) -> RecordOut:
    """Makes the record what it was. Brings a deleted one back."""
    restored = records.restore_record(
        kernel,
        _access(kernel, principal, folder_id),
        record_id,
        wanted.revision,
        expected_revision=_revision(if_match),
    )
    return _tagged(response, restored)


def _access(kernel: Kernel, principal: Principal, folder_id: str) -> FolderAccess:
    with kernel.store.read() as session:
        return owner_access(session, principal, folder_id)


def _tagged(response: Response, record: RecordOut) -> RecordOut:
    response.headers["ETag"] = etag_of(record.revision)
    return record


def _revision(if_match: str) -> int | None:
    """The revision that an If-Match header names; None for none and for `*`."""
    named = expected_version(if_match)
    if named is None or named == ANY:
        return None
    return int(named) if named.isdecimal() and len(named) < 10 else _NO_REVISION


def _conditions(where: list[str]) -> list[tuple[str, Any]]:
    conditions = []
    for each in where:
        key, sign, written = each.partition("=")
        try:
            conditions.append((key, json.loads(written)))
        except (ValueError, RecursionError):
            raise InvalidInput(
                f"The condition “{each[:80]}” has no JSON value."
                if sign
                else f"The condition “{each[:80]}” has no “=”.",
                hint='Write for instance where=status="active" or where=year=2024.',
            ) from None
    return conditions
