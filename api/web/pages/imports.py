"""Bringing exports in, and the report of each import."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from api.deps import CsrfDep, ReadDep, SignedInDep, WriteDep
from api.web.templating import render
from backread.store.repositories.connections import index_progress
from ingest.accept import cancel_import
from ingest.report import list_reports, read_report

_LISTED = 20
_ITEMS_SHOWN = 300

router = APIRouter(include_in_schema=False)


@router.get("/import")
def import_page(request: Request, session: ReadDep, signed_in: SignedInDep) -> Response:
    context = {
        "signed_in": signed_in,
        "imports": list_reports(session, signed_in.principal, limit=_LISTED),
    }
    return render(request, "import.html", context)


@router.get("/imports/{import_id}")
def report_page(
    request: Request, session: ReadDep, signed_in: SignedInDep, import_id: str
) -> Response:
    context = {
        "signed_in": signed_in,
        "report": read_report(session, signed_in.principal, import_id, items_limit=_ITEMS_SHOWN),
        "progress": index_progress(session, signed_in.principal),
    }
    return render(request, "report.html", context)


@router.post("/imports/{import_id}/cancel", dependencies=[CsrfDep])
def stop_import(session: WriteDep, signed_in: SignedInDep, import_id: str) -> Response:
    cancel_import(session, signed_in.principal, import_id)
    return RedirectResponse(f"/imports/{import_id}", status_code=303)
