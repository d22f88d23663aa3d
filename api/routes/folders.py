"""Record folders and their access keys, for scripts. Agents use the MCP server at /mcp/memories."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from api.deps import (
    Allowed,
    CsrfDep,
    KernelDep,
    MemoryReaderDep,
    MemoryWriterDep,
    ReadDep,
    WriteDep,
)
from api.schemas.folders import (
    FolderChange,
    FolderIn,
    FolderList,
    FolderOut,
    FolderRemoved,
    KeyIn,
    KeyList,
    KeyOut,
    NewKey,
    folder_out,
)
from backread.domain import Principal, Scope
from backread.store.models import FolderKey
from backread.store.repositories.folders import FolderCount, keys_of
from backread.store.repositories.records import count_records
from recall.folders import catalogue, keys
from recall.folders.access import get_folder, owner_access
from recall.folders.calibration import THRESHOLD
from recall.folders.searching import DEFAULT_RESULTS, MAX_RESULTS, vector_search
from recall.folders.views import SearchResult

# A key can do both, so whoever makes one must be allowed both.
KeeperDep = Annotated[Principal, Depends(Allowed(Scope.MEMORY_READ, Scope.MEMORY_WRITE))]

router = APIRouter(tags=["folders"])


@router.get("/folders")
def get_folders(session: ReadDep, principal: MemoryReaderDep) -> FolderList:
    """All folders, by name."""
    found = catalogue.list_folders(session, principal)
    return FolderList(items=[folder_out(each) for each in found])


@router.post("/folders", status_code=201, dependencies=[CsrfDep])
def post_folder(session: WriteDep, principal: MemoryWriterDep, wanted: FolderIn) -> FolderOut:
    """Makes an empty folder."""
    folder = catalogue.create_folder(
        session,
        principal,
        wanted.name,
        generate_embeddings=wanted.generate_embeddings,
        vector_description=wanted.vector_description,
    )
    return folder_out(FolderCount(folder, 0))


@router.get("/folders/{folder_id}")
def get_one_folder(session: ReadDep, principal: MemoryReaderDep, folder_id: str) -> FolderOut:
    folder = get_folder(session, principal.account_id, folder_id)
    return folder_out(FolderCount(folder, count_records(session, principal.account_id, folder_id)))


@router.patch("/folders/{folder_id}", dependencies=[CsrfDep])
def patch_folder(
    session: WriteDep, principal: MemoryWriterDep, folder_id: str, wanted: FolderChange
) -> FolderOut:
    """Changes a folder. Another description, or embeddings turned on, has the records indexed
    again in the background."""
    folder = catalogue.change_folder(
        session, principal, folder_id, **wanted.model_dump(exclude_unset=True)
    )
    return folder_out(FolderCount(folder, count_records(session, principal.account_id, folder_id)))


@router.delete("/folders/{folder_id}", dependencies=[CsrfDep])
def delete_folder(
    kernel: KernelDep,
    principal: MemoryWriterDep,
    folder_id: str,
    name: Annotated[str, Query(description="The folder's name, so that none goes by mistake.")],
) -> FolderRemoved:
    """Deletes a folder with its keys, records and their history, for good."""
    return FolderRemoved(records=catalogue.delete_folder(kernel, principal, folder_id, name=name))


@router.get("/folders/{folder_id}/search")
def search_folder(
    kernel: KernelDep,
    principal: MemoryReaderDep,
    folder_id: str,
    q: Annotated[str, Query(min_length=1, description="What to look for, in words.")],
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = DEFAULT_RESULTS,
    similarity_threshold: Annotated[float, Query(ge=0, le=1)] = THRESHOLD,
) -> SearchResult:
    """Parts of records by meaning, as vector_search gives them."""
    with kernel.store.read() as session:
        access = owner_access(session, principal, folder_id)
    return vector_search(kernel, access, q, limit=limit, similarity_threshold=similarity_threshold)


@router.get("/folders/{folder_id}/keys")
def get_keys(session: ReadDep, principal: MemoryReaderDep, folder_id: str) -> KeyList:
    """The keys to a folder, without their text."""
    get_folder(session, principal.account_id, folder_id)
    found = keys_of(session, principal.account_id, folder_id)
    return KeyList(items=[_key_out(each) for each in found])


@router.post("/folders/{folder_id}/keys", status_code=201, dependencies=[CsrfDep])
def post_key(session: WriteDep, principal: KeeperDep, folder_id: str, wanted: KeyIn) -> NewKey:
    """Makes a key, which opens this folder alone. Its text is in this answer and never again."""
    row, key = keys.make_key(
        session,
        principal,
        folder_id,
        name=wanted.name,
        is_read_only=wanted.read_only,
        days=wanted.days,
    )
    return NewKey(**_key_out(row).model_dump(), key=key)


@router.delete("/folders/{folder_id}/keys/{key_id}", status_code=204, dependencies=[CsrfDep])
def delete_key(session: WriteDep, principal: MemoryWriterDep, folder_id: str, key_id: str) -> None:
    """Revokes a key, at once."""
    keys.revoke_key(session, principal, folder_id, key_id)


def _key_out(row: FolderKey) -> KeyOut:
    return KeyOut(
        id=row.id,
        name=row.name,
        read_only=row.is_read_only,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
    )
