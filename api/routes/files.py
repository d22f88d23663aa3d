from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response, status
from pydantic import ValidationError

from api.attachments import attachment_headers
from api.deps import (
    CsrfDep,
    KernelDep,
    MemoryReaderDep,
    MemoryWriterDep,
    ReadDep,
    WriteDep,
)
from api.receiving_files import keep_received, keep_uploaded
from api.routes.uploads import FORM_CONTENT, receive_upload
from api.schemas.files import (
    DeletionReceipt,
    FileDetail,
    FileList,
    FileOut,
    FilePageOut,
    FilesKept,
    UploadsToKeep,
)
from backread.errors import InvalidInput, LimitExceeded, NotFound
from backread.store.repositories.file_buckets import get_file_bucket
from backread.store.repositories.file_passages import page_of
from backread.store.repositories.files import count_files, find_file, list_files, versions_of
from ingest.documents.keeping import original_of, read_again, remove_file
from recall.files.results import FileSearchResult
from recall.files.search import DEFAULT_RESULTS, MAX_RESULTS, search_files

router = APIRouter(tags=["files"])

_JSON_BYTES = 64 * 1024
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": UploadsToKeep.model_json_schema()},
            **FORM_CONTENT,
        },
    }
}
BucketQuery = Annotated[int | None, Query(description="A file bucket's number.")]


@router.get("/files")
def get_files(
    session: ReadDep,
    principal: MemoryReaderDep,
    bucket_id: BucketQuery = None,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> FileList:
    """Uploaded documents, by bucket and name."""
    if bucket_id is not None:
        get_file_bucket(session, principal.account_id, bucket_id)
    rows = list_files(
        session, principal.account_id, bucket_id=bucket_id, offset=offset, limit=limit
    )
    return FileList(
        items=[FileOut.of(file, bucket) for file, bucket in rows],
        total=count_files(session, principal.account_id, bucket_id=bucket_id),
        offset=offset,
    )


@router.post(
    "/files", status_code=status.HTTP_202_ACCEPTED, dependencies=[CsrfDep], openapi_extra=_BODY
)
async def post_files(
    request: Request,
    kernel: KernelDep,
    principal: MemoryWriterDep,
    bucket_id: BucketQuery = None,
    bucket: Annotated[
        str, Query(max_length=200, description="By name; made when there is none.")
    ] = "",
) -> FilesKept:
    """Takes documents in and reads them in the background. They come as a form, or were uploaded
    before (`/api/v1/uploads`) and are named by their ids in JSON. A file of the same name in the
    bucket is replaced. Each is answered for by itself."""
    if request.headers.get("content-type", "").split(";")[0].strip() == "application/json":
        wanted = await _uploads_to_keep(request)
        return await to_thread.run_sync(keep_uploaded, kernel, principal, wanted)
    settings = kernel.settings
    upload = await receive_upload(
        request, settings.uploads_dir, max_bytes=settings.upload_max_bytes
    )
    return await to_thread.run_sync(
        lambda: keep_received(kernel, principal, upload, bucket_id=bucket_id, bucket=bucket)
    )


async def _uploads_to_keep(request: Request) -> UploadsToKeep:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _JSON_BYTES:
            raise LimitExceeded("The list of uploads is too long.", hint="Send fewer at a time.")
    try:
        return UploadsToKeep.model_validate_json(bytes(body))
    except ValidationError as error:
        raise InvalidInput(
            "The request does not name its uploads.",
            hint='Send {"uploads": ["…"], "bucket_id": 1} with ids of /api/v1/uploads.',
        ) from error


@router.get("/files/search", response_model_by_alias=False)
def get_files_search(
    kernel: KernelDep,
    principal: MemoryReaderDep,
    q: Annotated[str, Query(min_length=1, max_length=2000, description="What to look for.")],
    bucket_id: BucketQuery = None,
    top_k: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = DEFAULT_RESULTS,
) -> FileSearchResult:
    """Passages of documents by words and by meaning, best first. Documents of projects are among
    them for who may read chats."""
    return search_files(kernel, principal, q, bucket_id=bucket_id, top_k=top_k)


@router.get("/files/{file_id}")
def get_file(session: ReadDep, principal: MemoryReaderDep, file_id: str) -> FileDetail:
    """One document: its state, and what is kept of earlier versions."""
    file = find_file(session, principal, file_id)
    bucket = get_file_bucket(session, principal.account_id, file.bucket_id)
    versions = versions_of(session, principal.account_id, file.id)
    return FileDetail.with_versions(file, bucket, versions)


@router.get("/files/{file_id}/pages/{number}")
def get_file_page(
    session: ReadDep, principal: MemoryReaderDep, file_id: str, number: int
) -> FilePageOut:
    """The text of one page, from 1."""
    file = find_file(session, principal, file_id)
    page = page_of(session, principal.account_id, file.id, number)
    if page is None:
        raise NotFound("The file has no such page.", hint=f"It has {file.page_count} pages.")
    return FilePageOut.model_validate(page)


@router.get("/files/{file_id}/original", response_class=Response)
def get_file_original(
    session: ReadDep,
    principal: MemoryReaderDep,
    file_id: str,
    version: Annotated[int | None, Query(ge=1, description="An earlier one that is kept.")] = None,
) -> Response:
    """The very bytes that were uploaded, to be saved: never shown in place."""
    file, body = original_of(session, principal, file_id, version)
    return Response(
        body, media_type="application/octet-stream", headers=attachment_headers(file.name)
    )


@router.post(
    "/files/{file_id}/read-again", status_code=status.HTTP_202_ACCEPTED, dependencies=[CsrfDep]
)
def post_read_again(session: WriteDep, principal: MemoryWriterDep, file_id: str) -> FileOut:
    """Reads a document anew, after what was in the way has been repaired."""
    file = read_again(session, principal, file_id)
    bucket = get_file_bucket(session, principal.account_id, file.bucket_id)
    return FileOut.of(file, bucket)


@router.delete("/files/{file_id}", dependencies=[CsrfDep])
def delete_file(kernel: KernelDep, principal: MemoryWriterDep, file_id: str) -> DeletionReceipt:
    """Deletes a document everywhere. The answer is the receipt."""
    return DeletionReceipt.model_validate(remove_file(kernel, principal, file_id))
