"""The first door and the last: setting the server up, and signing out."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.service import needs_set_up, set_up_owner
from api.accounts.sessions import (
    clear_session_cookie,
    create_session,
    end_session,
    session_token,
    set_session_cookie,
)
from api.deps import (
    ClientAddressDep,
    CsrfDep,
    FormTokenDep,
    KernelDep,
    ReadDep,
    SettingsDep,
    SignInLimitsDep,
    WriteDep,
)
from api.errors import http_status
from api.web.templating import render
from backread.errors import AccessDenied, Conflict, InvalidInput

router = APIRouter(include_in_schema=False)


@router.get("/setup")
def setup_page(
    request: Request, session: ReadDep, form_token: FormTokenDep, token: str = ""
) -> Response:
    if not needs_set_up(session):
        return RedirectResponse("/sign-in", status_code=303)
    return render(request, "setup.html", {"token": token, "csrf_token": form_token})


@router.post("/setup", dependencies=[CsrfDep])
def set_up(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    form_token: FormTokenDep,
    email: Annotated[str, Form()],
    password: Annotated[str, Form()],
    token: Annotated[str, Form()] = "",
    display_name: Annotated[str, Form()] = "",
    timezone: Annotated[str, Form()] = "",
) -> Response:
    limits.take(address)
    try:
        with kernel.store.write() as session:
            owner = set_up_owner(
                session,
                kernel.settings,
                token=token.strip(),
                email=email,
                password=password,
                display_name=display_name,
                timezone=timezone.strip() or "UTC",
            )
            cookie = create_session(
                session,
                owner,
                request.headers.get("user-agent", ""),
                address=address,
                days=kernel.settings.session_days,
            )
    except (AccessDenied, Conflict, InvalidInput) as error:
        given = {
            "token": token,
            "email": email,
            "display_name": display_name,
            "timezone": timezone,
            "csrf_token": form_token,
            "error": error.message,
            "hint": error.hint,
            "token_refused": isinstance(error, AccessDenied),
        }
        return render(request, "setup.html", given, status_code=http_status(error))
    response = RedirectResponse("/", status_code=303)
    set_session_cookie(response, kernel.settings, cookie)
    return response


@router.post("/sign-out", dependencies=[CsrfDep])
def sign_out(request: Request, session: WriteDep, settings: SettingsDep) -> Response:
    token = session_token(request, settings)
    if token:
        end_session(session, token)
    response = RedirectResponse("/sign-in", status_code=303)
    clear_session_cookie(response, settings)
    return response
