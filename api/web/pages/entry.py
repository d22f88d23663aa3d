"""The doors: first run, sign in, sign out."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.service import SignInAttempt, needs_set_up, set_up_owner, sign_in
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
    MaybeSignedInDep,
    ReadDep,
    SettingsDep,
    SignInLimitsDep,
    WriteDep,
)
from api.errors import http_status
from api.web.templating import render
from backread.errors import AccessDenied, Conflict, InvalidInput, NotAuthenticated, RateLimited

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
    form_token: FormTokenDep,
    email: Annotated[str, Form()],
    password: Annotated[str, Form()],
    token: Annotated[str, Form()] = "",
    display_name: Annotated[str, Form()] = "",
    timezone: Annotated[str, Form()] = "",
) -> Response:
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


@router.get("/sign-in")
def sign_in_page(
    request: Request,
    session: ReadDep,
    somebody: MaybeSignedInDep,
    form_token: FormTokenDep,
    next: str = "/",
) -> Response:
    if needs_set_up(session):
        return RedirectResponse("/setup", status_code=303)
    if somebody is not None:
        return RedirectResponse(local_path(next), status_code=303)
    context = {"next": local_path(next), "csrf_token": form_token, "signed_in": None}
    return render(request, "sign_in.html", context)


@router.post("/sign-in", dependencies=[CsrfDep])
async def start_session(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    form_token: FormTokenDep,
    email: Annotated[str, Form()],
    password: Annotated[str, Form()],
    next: Annotated[str, Form()] = "/",
) -> Response:
    user_agent = request.headers.get("user-agent", "")
    attempt = SignInAttempt(email, password, address=address, user_agent=user_agent)
    try:
        cookie = await sign_in(kernel, limits, attempt)
    except (NotAuthenticated, RateLimited) as error:
        context = {
            "next": local_path(next),
            "email": email,
            "csrf_token": form_token,
            "error": error.message,
            "hint": error.hint,
        }
        return render(request, "sign_in.html", context, status_code=http_status(error))
    response = RedirectResponse(local_path(next), status_code=303)
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


def local_path(given: str) -> str:
    """`given` if it is a path on this server, else "/": sign-in must not send people elsewhere.

    Browsers read a backslash as a slash, and drop tabs and line ends inside addresses.
    """
    cleaned = "".join(character for character in given if character > " ").replace("\\", "/")
    return cleaned if cleaned.startswith("/") and not cleaned.startswith("//") else "/"
