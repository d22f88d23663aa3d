"""Name and time zone, and what this server is."""

import zoneinfo
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.service import update_profile
from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, ReadDep, SettingsDep, SignedInDep
from api.web.templating import render
from backread.errors import InvalidInput
from backread.settings import Settings
from backread.store.engine import ReadSession
from backread.store.repositories.browsing import archive_totals
from backread.store.repositories.connections import index_progress

# In the list of zones, but nobody lives there.
_NOT_A_PLACE = frozenset({"Factory", "localtime"})

router = APIRouter()


@router.get("/settings")
def settings_page(
    request: Request,
    session: ReadDep,
    signed_in: SignedInDep,
    settings: SettingsDep,
    saved: bool = False,
) -> Response:
    return _page(request, session, signed_in, settings, notice="Saved." if saved else "")


@router.post("/settings/account", dependencies=[CsrfDep])
def save_account(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    timezone: Annotated[str, Form()],
    display_name: Annotated[str, Form()] = "",
) -> Response:
    try:
        with kernel.store.write() as session:
            update_profile(
                session, signed_in.account_id, display_name=display_name, timezone=timezone
            )
    except InvalidInput as error:
        with kernel.store.read() as reading:
            return _page(
                request, reading, signed_in, kernel.settings, error=str(error), status_code=400
            )
    return RedirectResponse("/settings?saved=true", status_code=303)


def _page(
    request: Request,
    session: ReadSession,
    signed_in: SignedIn,
    settings: Settings,
    *,
    notice: str = "",
    error: str = "",
    status_code: int = 200,
) -> Response:
    context = {
        "signed_in": signed_in,
        "notice": notice,
        "error": error,
        "timezones": sorted(zoneinfo.available_timezones() - _NOT_A_PLACE),
        "totals": archive_totals(session, signed_in.principal),
        "progress": index_progress(session, signed_in.principal),
        "origin": settings.origin,
        "embedding_model": settings.embedding_model,
    }
    return render(request, "settings/profile.html", context, status_code=status_code)
