"""Settings of the account: name, time zone, signed-in browsers, and what this server is."""

import zoneinfo
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.passwords import MAX_LENGTH, MIN_LENGTH
from api.accounts.service import change_password, update_profile
from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, ReadDep, SettingsDep, SignedInDep, WriteDep
from api.web.templating import render
from backread.errors import AccessDenied, BackreadError, InvalidInput
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import ReadSession
from backread.store.repositories.browsing import archive_totals
from backread.store.repositories.connections import end_sign_in, index_progress, list_sign_ins

router = APIRouter(include_in_schema=False)


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
        return _refused(request, kernel, signed_in, error)
    return RedirectResponse("/settings?saved=true", status_code=303)


@router.post("/settings/password", dependencies=[CsrfDep])
def save_password(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    current_password: Annotated[str, Form()],
    new_password: Annotated[str, Form()],
) -> Response:
    try:
        change_password(kernel, signed_in, current=current_password, new=new_password)
    except (AccessDenied, InvalidInput) as error:
        return _refused(request, kernel, signed_in, error)
    return RedirectResponse("/settings?saved=true", status_code=303)


@router.post("/settings/sessions/{session_id}/end", dependencies=[CsrfDep])
def end_browser_session(session: WriteDep, signed_in: SignedInDep, session_id: str) -> Response:
    end_sign_in(session, signed_in.principal, session_id)
    return RedirectResponse("/settings", status_code=303)


def _refused(
    request: Request, kernel: Kernel, signed_in: SignedIn, error: BackreadError
) -> Response:
    """The page again, with what was wrong."""
    with kernel.store.read() as session:
        return _page(
            request, session, signed_in, kernel.settings, error=str(error), status_code=400
        )


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
        "timezones": sorted(zoneinfo.available_timezones()),
        "sign_ins": list_sign_ins(session, signed_in.principal, now=utcnow()),
        "totals": archive_totals(session, signed_in.principal),
        "progress": index_progress(session, signed_in.principal),
        "origin": settings.origin,
        "embedding_model": settings.embedding_model,
        "password_length": {"min": MIN_LENGTH, "max": MAX_LENGTH},
    }
    return render(request, "settings.html", context, status_code=status_code)
