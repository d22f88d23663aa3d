from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request, status
from pydantic import ValidationError

from api.deps import CsrfDep, HistoryWriterDep, KernelDep, ReadDep, WriteDep
from api.routes.uploads import FORM_CONTENT, Upload, receive_upload
from api.schemas.imports import (
    ImportAccepted,
    ImportList,
    ImportReportOut,
    ImportState,
    IndexProgressOut,
    UploadsToImport,
)
from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.store.repositories.connections import index_progress
from ingest.accept import accept_files, accept_uploads
from ingest.controls import cancel_import, carry_out, pause_import, resume_import
from ingest.report import list_reports, read_report

router = APIRouter(tags=["imports"])

_JSON_BYTES = 128 * 1024  # room for the ids of the most files that one import may have

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": UploadsToImport.model_json_schema()},
            **FORM_CONTENT,
        },
    }
}


@router.post(
    "/imports",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[CsrfDep],
    openapi_extra=_BODY,
)
async def post_import(
    request: Request,
    kernel: KernelDep,
    principal: HistoryWriterDep,
    dry_run: Annotated[bool, Query(description="Report what would happen; store nothing.")] = False,
) -> ImportAccepted:
    """Takes one or more export files in and imports them in the background.

    The files of one request belong together: the parts of a split export, say. They come as a
    form, or were uploaded before (`/api/v1/uploads`) and are named by their ids in JSON.
    """
    settings = kernel.settings
    if request.headers.get("content-type", "").split(";")[0].strip() == "application/json":
        wanted = await _uploads_to_import(request)
        return await to_thread.run_sync(_accept_uploads, kernel, principal, wanted, dry_run)
    upload = await receive_upload(
        request, settings.uploads_dir, max_bytes=settings.upload_max_bytes
    )
    return await to_thread.run_sync(_accept, kernel, principal, upload, dry_run)


async def _uploads_to_import(request: Request) -> UploadsToImport:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _JSON_BYTES:
            raise LimitExceeded("The list of uploads is too long.", hint="Send a ZIP file.")
    try:
        return UploadsToImport.model_validate_json(bytes(body))
    except ValidationError as error:
        raise InvalidInput(
            "The request does not name its uploads.",
            hint='Send {"uploads": ["…"], "dry_run": false} with ids of /api/v1/uploads.',
        ) from error


def _accept_uploads(
    kernel: Kernel, principal: Principal, wanted: UploadsToImport, dry_run: bool
) -> ImportAccepted:
    with kernel.store.write() as session:
        import_id = accept_uploads(
            session,
            kernel.settings,
            principal,
            wanted.uploads,
            dry_run=dry_run or wanted.dry_run,
        )
    return _accepted(import_id)


def _accept(kernel: Kernel, principal: Principal, upload: Upload, dry_run: bool) -> ImportAccepted:
    try:
        with kernel.store.write() as session:
            import_id = accept_files(
                session,
                principal,
                upload.files,
                route="web",
                owns_files=True,
                dry_run=dry_run,
            )
    except BaseException:
        upload.discard()
        raise
    return _accepted(import_id)


def _accepted(import_id: str) -> ImportAccepted:
    return ImportAccepted(id=import_id, href=f"/api/v1/imports/{import_id}")


@router.get("/imports")
def get_imports(
    session: ReadDep, principal: HistoryWriterDep, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> ImportList:
    """The account's imports, newest first, without their conversations."""
    return ImportList(items=list_reports(session, principal, limit=limit))


@router.get("/imports/{import_id}")
def get_import(
    session: ReadDep,
    principal: HistoryWriterDep,
    import_id: str,
    items: Annotated[int, Query(ge=0, le=5000, description="Conversations to list.")] = 100,
) -> ImportReportOut:
    """The report. found = new + updated + unchanged + skipped + failed, also while it runs."""
    report = read_report(session, principal, import_id, items_limit=items)
    progress = index_progress(session, principal)
    index = IndexProgressOut(passages=progress.passages, dense=progress.dense)
    return ImportReportOut(**report.model_dump(), index=index)


@router.post("/imports/{import_id}/cancel", dependencies=[CsrfDep])
def post_cancel(session: WriteDep, principal: HistoryWriterDep, import_id: str) -> ImportState:
    """Stops an import. What was stored so far stays."""
    return ImportState(id=import_id, state=cancel_import(session, principal, import_id))


@router.post("/imports/{import_id}/pause", dependencies=[CsrfDep])
def post_pause(session: WriteDep, principal: HistoryWriterDep, import_id: str) -> ImportState:
    """Holds an import back until it is resumed, also across restarts."""
    return ImportState(id=import_id, state=pause_import(session, principal, import_id))


@router.post("/imports/{import_id}/resume", dependencies=[CsrfDep])
def post_resume(session: WriteDep, principal: HistoryWriterDep, import_id: str) -> ImportState:
    """Goes on with a paused import after what is stored."""
    return ImportState(id=import_id, state=resume_import(session, principal, import_id))


@router.post(
    "/imports/{import_id}/carry-out", status_code=status.HTTP_202_ACCEPTED, dependencies=[CsrfDep]
)
def post_carry_out(
    session: WriteDep, principal: HistoryWriterDep, import_id: str
) -> ImportAccepted:
    """Imports the files of a trial run for real, without sending them again. They are kept for a
    day after the run."""
    return _accepted(carry_out(session, principal, import_id))
