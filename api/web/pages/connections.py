"""Connecting clients, and the clients that are connected."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from api.deps import CsrfDep, KernelDep, ReadDep, SettingsDep, SignedInDep, WriteDep
from api.doctor.examination import examine_all
from api.oauth.resources import FOLDER_PATH, notes_resource, recall_resource
from api.oauth.scopes import NOTES_SCOPE_TEXTS, SCOPE_TEXTS
from api.web.clients import client_guides, is_loopback
from api.web.templating import render
from backread.store.base import utcnow
from backread.store.repositories.connections import end_connection, list_connections

router = APIRouter(include_in_schema=False)


@router.get("/connections")
def connections_page(
    request: Request, session: ReadDep, signed_in: SignedInDep, settings: SettingsDep
) -> Response:
    mcp_url = recall_resource(settings)
    context = {
        "signed_in": signed_in,
        "mcp_url": mcp_url,
        "notes_url": notes_resource(settings),
        "folders_url": f"{settings.origin}{FOLDER_PATH}",
        "guides": client_guides(mcp_url),
        "is_loopback": is_loopback(settings.origin),
        "connections": list_connections(session, signed_in.principal),
        "notes_scope_titles": {
            scope.value: text.title for scope, text in NOTES_SCOPE_TEXTS.items()
        },
        "scope_titles": {scope.value: text.title for scope, text in SCOPE_TEXTS.items()},
    }
    return render(request, "connections.html", context)


@router.post("/connections/{grant_id}/revoke", dependencies=[CsrfDep])
def revoke_connection(session: WriteDep, signed_in: SignedInDep, grant_id: str) -> Response:
    end_connection(session, signed_in.principal, grant_id, now=utcnow())
    return RedirectResponse("/connections", status_code=303)


@router.get("/connections/examination")
def examination_page(signed_in: SignedInDep) -> Response:
    """Somebody who opened the address of a former examination: it begins with a button."""
    return RedirectResponse("/connections", status_code=303)


@router.post("/connections/examination", dependencies=[CsrfDep])
def examine_connections(request: Request, kernel: KernelDep, signed_in: SignedInDep) -> Response:
    """Takes some seconds. Shows what was found; nothing of it is kept."""
    examinations = examine_all(kernel, signed_in.principal)
    context = {"signed_in": signed_in, "examinations": examinations}
    return render(request, "examination.html", context)
