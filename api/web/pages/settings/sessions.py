"""Where one is signed in, and signing out there."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from api.deps import CsrfDep, ReadDep, SignedInDep, WriteDep
from api.web.templating import render
from backread.store.base import utcnow
from backread.store.repositories.accounts import delete_sign_ins_of
from backread.store.repositories.connections import end_sign_in, list_sign_ins

router = APIRouter()


@router.get("/settings/sessions")
def sessions_page(
    request: Request, session: ReadDep, signed_in: SignedInDep, ended: bool = False
) -> Response:
    context = {
        "signed_in": signed_in,
        "notice": "Signed out there." if ended else "",
        "sign_ins": list_sign_ins(session, signed_in.principal, now=utcnow()),
    }
    return render(request, "settings/sessions.html", context)


@router.post("/settings/sessions/{session_id}/end", dependencies=[CsrfDep])
def end_browser_session(session: WriteDep, signed_in: SignedInDep, session_id: str) -> Response:
    end_sign_in(session, signed_in.principal, session_id)
    return RedirectResponse("/settings/sessions?ended=true", status_code=303)


@router.post("/settings/sessions/end-others", dependencies=[CsrfDep])
def end_other_sessions(session: WriteDep, signed_in: SignedInDep) -> Response:
    delete_sign_ins_of(session, signed_in.account_id, except_id=signed_in.session_id)
    return RedirectResponse("/settings/sessions?ended=true", status_code=303)
