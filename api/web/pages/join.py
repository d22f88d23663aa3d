"""Making an account from an invite."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.people import NewAccount, accept_invite, invite_ended
from api.accounts.sessions import create_session, set_session_cookie
from api.deps import (
    ClientAddressDep,
    CsrfDep,
    FormTokenDep,
    KernelDep,
    ReadDep,
    SignInLimitsDep,
)
from api.errors import http_status
from api.web.templating import render
from backread.crypto import hash_token
from backread.errors import Conflict, InvalidInput
from backread.store.base import utcnow
from backread.store.repositories.people import find_invite

router = APIRouter(include_in_schema=False)


@router.get("/join")
def join_page(
    request: Request,
    session: ReadDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    form_token: FormTokenDep,
    token: str = "",
) -> Response:
    invite = find_invite(session, hash_token(token), now=utcnow())
    if invite is None:
        limits.take(address)
        raise invite_ended()
    context = {"token": token, "display_name": invite.name, "csrf_token": form_token}
    return render(request, "join.html", {"signed_in": None, **context})


@router.post("/join", dependencies=[CsrfDep])
def join(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    form_token: FormTokenDep,
    token: Annotated[str, Form()],
    email: Annotated[str, Form()],
    password: Annotated[str, Form()],
    display_name: Annotated[str, Form()] = "",
    timezone: Annotated[str, Form()] = "",
) -> Response:
    limits.take(address)
    new = NewAccount(email, password, display_name, timezone.strip() or "UTC")
    try:
        with kernel.store.write() as session:
            account = accept_invite(session, token, new)
            cookie = create_session(
                session,
                account,
                request.headers.get("user-agent", ""),
                address=address,
                days=kernel.settings.session_days,
            )
    except (Conflict, InvalidInput) as error:
        given = {
            "token": token,
            "email": email,
            "display_name": display_name,
            "timezone": timezone,
            "csrf_token": form_token,
            "error": error.message,
            "hint": error.hint,
            "signed_in": None,
        }
        return render(request, "join.html", given, status_code=http_status(error))
    response = RedirectResponse("/", status_code=303)
    set_session_cookie(response, kernel.settings, cookie)
    return response
