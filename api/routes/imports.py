from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request, status

from api.deps import CsrfDep, KernelDep, PrincipalDep, ReadDep, WriteDep
from api.routes.uploads import FIELD, Upload, receive_upload
from api.schemas.imports import (
    ImportAccepted,
    ImportCancelled,
    ImportList,
    ImportReportOut,
    IndexProgressOut,
)
from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.repositories.connections import index_progress
from ingest.accept import accept_files, cancel_import
from ingest.report import list_reports, read_report

router = APIRouter(tags=["imports"])

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": [FIELD],
                    "properties": {
                        FIELD: {"type": "array", "items": {"type": "string", "format": "binary"}}
                    },
                }
            }
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
    principal: PrincipalDep,
    dry_run: Annotated[bool, Query(description="Report what would happen; store nothing.")] = False,
) -> ImportAccepted:
    """Takes one or more export files in and imports them in the background.

    The files of one request belong together: the parts of a split export, say.
    """
    settings = kernel.settings
    upload = await receive_upload(
        request, settings.uploads_dir, max_bytes=settings.upload_max_bytes
    )
    import_id = await to_thread.run_sync(_accept, kernel, principal, upload, dry_run)
    return ImportAccepted(id=import_id, href=f"/api/v1/imports/{import_id}")


def _accept(kernel: Kernel, principal: Principal, upload: Upload, dry_run: bool) -> str:
    try:
        with kernel.store.write() as session:
            return accept_files(
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


@router.get("/imports")
def get_imports(
    session: ReadDep, principal: PrincipalDep, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> ImportList:
    """The account's imports, newest first, without their conversations."""
    return ImportList(items=list_reports(session, principal, limit=limit))


@router.get("/imports/{import_id}")
def get_import(
    session: ReadDep,
    principal: PrincipalDep,
    import_id: str,
    items: Annotated[int, Query(ge=0, le=5000, description="Conversations to list.")] = 100,
) -> ImportReportOut:
    """The report. found = new + updated + unchanged + skipped + failed, also while it runs."""
    report = read_report(session, principal, import_id, items_limit=items)
    progress = index_progress(session, principal)
    index = IndexProgressOut(passages=progress.passages, dense=progress.dense)
    return ImportReportOut(**report.model_dump(), index=index)


@router.post("/imports/{import_id}/cancel", dependencies=[CsrfDep])
def post_cancel(session: WriteDep, principal: PrincipalDep, import_id: str) -> ImportCancelled:
    """Stops an import. What was stored so far stays."""
    return ImportCancelled(id=import_id, state=cancel_import(session, principal, import_id))
