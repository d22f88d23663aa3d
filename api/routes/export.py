"""Leaving: everything of an account as one archive."""

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from api.deps import CsrfDep, ExporterDep, KernelDep
from backread.store.base import utcnow
from ingest.own_archive.writing import ArchiveWriter, archive_name

router = APIRouter(tags=["export"])


@router.post(
    "/export",
    dependencies=[CsrfDep],
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "The archive."}},
)
def post_export(kernel: KernelDep, principal: ExporterDep) -> StreamingResponse:
    """Everything that is kept for the account, as a zip that another Backread imports without
    loss. It is made while it is sent; one that was cut off lacks its end, and is refused as
    incomplete when it is imported."""
    return StreamingResponse(
        ArchiveWriter(kernel, principal).pieces(),
        media_type="application/zip",
        headers={
            "Content-Disposition": f'attachment; filename="{archive_name(utcnow())}"',
            "Cache-Control": "no-store",
        },
    )
