"""Bringing exports in, and the report of each import."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from api.deps import CsrfDep, ReadDep, SettingsDep, SignedInDep, WriteDep
from api.web.templating import render
from backread.store.repositories.connections import index_progress
from ingest.controls import cancel_import, carry_out, pause_import, resume_import
from ingest.report import list_reports, read_report
from ingest.rereading import request_rereading, rereading_state
from ingest.uploads import discard_upload, list_uploads

_LISTED = 20
_ITEMS_SHOWN = 300

router = APIRouter(include_in_schema=False)


@router.get("/import")
def import_page(
    request: Request, session: ReadDep, signed_in: SignedInDep, settings: SettingsDep
) -> Response:
    context = {
        "signed_in": signed_in,
        "unfinished": list_uploads(session, settings, signed_in.principal),
        "imports": list_reports(session, signed_in.principal, limit=_LISTED),
        "rereading": rereading_state(session, signed_in.principal),
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


@router.post("/imports/{import_id}/pause", dependencies=[CsrfDep])
def hold_import(session: WriteDep, signed_in: SignedInDep, import_id: str) -> Response:
    pause_import(session, signed_in.principal, import_id)
    return RedirectResponse(f"/imports/{import_id}", status_code=303)


@router.post("/imports/{import_id}/resume", dependencies=[CsrfDep])
def go_on_with_import(session: WriteDep, signed_in: SignedInDep, import_id: str) -> Response:
    resume_import(session, signed_in.principal, import_id)
    return RedirectResponse(f"/imports/{import_id}", status_code=303)


@router.post("/imports/{import_id}/carry-out", dependencies=[CsrfDep])
def carry_out_trial(session: WriteDep, signed_in: SignedInDep, import_id: str) -> Response:
    made = carry_out(session, signed_in.principal, import_id)
    return RedirectResponse(f"/imports/{made}", status_code=303)


@router.post("/uploads/discard", dependencies=[CsrfDep])
def give_up_uploads(session: WriteDep, settings: SettingsDep, signed_in: SignedInDep) -> Response:
    for upload in list_uploads(session, settings, signed_in.principal):
        discard_upload(session, settings, signed_in.principal, upload.id)
    return RedirectResponse("/import", status_code=303)


@router.post("/import/read-again", dependencies=[CsrfDep])
def read_again(session: WriteDep, signed_in: SignedInDep) -> Response:
    request_rereading(session, signed_in.principal)
    return RedirectResponse("/import", status_code=303)
