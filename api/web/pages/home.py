"""The first page: what is in the archive, or how to fill it."""

from fastapi import APIRouter, Request, Response

from api.deps import ReadDep, SettingsDep, SignedInDep
from api.oauth.resources import recall_resource
from api.web.templating import render
from backread.store.repositories.browsing import (
    ConversationFilter,
    archive_totals,
    list_conversations,
)
from backread.store.repositories.connections import index_progress, list_connections
from ingest.report import list_reports

_RECENT = 6
_RECENT_IMPORTS = 4

router = APIRouter(include_in_schema=False)


@router.get("/")
def home_page(
    request: Request, session: ReadDep, signed_in: SignedInDep, settings: SettingsDep
) -> Response:
    principal = signed_in.principal
    context = {
        "signed_in": signed_in,
        "totals": archive_totals(session, principal),
        "imports": list_reports(session, principal, limit=_RECENT_IMPORTS),
        "recent": list_conversations(session, principal, ConversationFilter(), limit=_RECENT),
        "progress": index_progress(session, principal),
        "connections": list_connections(session, principal),
        "mcp_url": recall_resource(settings),
    }
    return render(request, "home.html", context)
