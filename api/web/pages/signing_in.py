"""Signing in: with the password and, where there is one, a code; or with a passkey."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import BaseModel

from api.accounts.passkeys import ask_to_sign_in, relying_party, sign_in_with_passkey
from api.accounts.second_factor import SIGN_IN_LIFE, finish_sign_in, is_waiting
from api.accounts.service import CodeNeeded, SignInAttempt, needs_set_up, sign_in
from api.accounts.sessions import (
    clear_step_cookie,
    set_session_cookie,
    set_step_cookie,
    step_token,
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
)
from api.errors import http_status
from api.web.templating import render
from backread.errors import BackreadError, NotAuthenticated, NotFound, RateLimited
from backread.settings import Settings

router = APIRouter(include_in_schema=False)

_ENDED = "That sign-in took too long, or had too many wrong codes. Begin again."


class PasskeyAnswer(BaseModel):
    """`credential` is the browser's PublicKeyCredential as JSON (WebAuthn level 3, §5.1.8)."""

    token: str
    credential: dict[str, Any]
    next: str = "/"


@router.get("/sign-in")
def sign_in_page(
    request: Request,
    session: ReadDep,
    settings: SettingsDep,
    somebody: MaybeSignedInDep,
    form_token: FormTokenDep,
    next: str = "/",
    ended: bool = False,
) -> Response:
    if needs_set_up(session):
        return RedirectResponse("/setup", status_code=303)
    if somebody is not None:
        return RedirectResponse(local_path(next), status_code=303)
    notice = _ENDED if ended else ""
    return _page(request, settings, form_token, next, notice=notice)


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
        result = await sign_in(kernel, limits, attempt)
    except (NotAuthenticated, RateLimited) as error:
        return _page(request, kernel.settings, form_token, next, email=email, refusal=error)
    if isinstance(result, CodeNeeded):
        response = RedirectResponse(_with_next("/sign-in/code", next), status_code=303)
        seconds = int(SIGN_IN_LIFE.total_seconds())
        set_step_cookie(response, kernel.settings, result.token, seconds=seconds)
        return response
    return _let_in(kernel.settings, result, next)


@router.get("/sign-in/code")
def code_page(
    request: Request,
    session: ReadDep,
    settings: SettingsDep,
    form_token: FormTokenDep,
    next: str = "/",
) -> Response:
    if not is_waiting(session, step_token(request, settings)):
        return RedirectResponse(_with_next("/sign-in", next), status_code=303)
    return _code_page(request, settings, form_token, next)


@router.post("/sign-in/code", dependencies=[CsrfDep])
def check_code(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    form_token: FormTokenDep,
    code: Annotated[str, Form(max_length=100)],
    next: Annotated[str, Form()] = "/",
) -> Response:
    settings, token = kernel.settings, step_token(request, kernel.settings)
    try:
        cookie = finish_sign_in(
            kernel,
            limits,
            token,
            code,
            address=address,
            user_agent=request.headers.get("user-agent", ""),
        )
    except (NotAuthenticated, RateLimited) as error:
        return _code_page(request, settings, form_token, next, refusal=error)
    except NotFound:
        response: Response = RedirectResponse(
            _with_next("/sign-in?ended=true", next), status_code=303
        )
    else:
        response = _let_in(settings, cookie, next)
    clear_step_cookie(response, settings)
    return response


@router.post("/sign-in/passkey/options", dependencies=[CsrfDep])
def begin_passkey(
    kernel: KernelDep, limits: SignInLimitsDep, address: ClientAddressDep
) -> dict[str, Any]:
    limits.take(address)
    with kernel.store.write() as session:
        asked = ask_to_sign_in(session, kernel.settings)
    return {"token": asked.token, "options": asked.options}


@router.post("/sign-in/passkey", dependencies=[CsrfDep])
def check_passkey(
    request: Request, kernel: KernelDep, address: ClientAddressDep, given: PasskeyAnswer
) -> Response:
    cookie = sign_in_with_passkey(
        kernel,
        token=given.token,
        credential=given.credential,
        address=address,
        user_agent=request.headers.get("user-agent", ""),
    )
    response = JSONResponse({"location": local_path(given.next)})
    set_session_cookie(response, kernel.settings, cookie)
    clear_step_cookie(response, kernel.settings)
    return response


def _let_in(settings: Settings, cookie: str, next: str) -> Response:
    response = RedirectResponse(local_path(next), status_code=303)
    set_session_cookie(response, settings, cookie)
    return response


def _with_next(path: str, next: str) -> str:
    joint = "&" if "?" in path else "?"
    return f"{path}{joint}next={quote(local_path(next), safe='')}"


def _page(
    request: Request,
    settings: Settings,
    form_token: str,
    next: str,
    *,
    email: str = "",
    notice: str = "",
    refusal: BackreadError | None = None,
) -> Response:
    return _render(request, settings, "sign_in.html", form_token, next, refusal, email, notice)


def _code_page(
    request: Request,
    settings: Settings,
    form_token: str,
    next: str,
    *,
    refusal: BackreadError | None = None,
) -> Response:
    return _render(request, settings, "sign_in_code.html", form_token, next, refusal)


def _render(
    request: Request,
    settings: Settings,
    template: str,
    form_token: str,
    next: str,
    refusal: BackreadError | None,
    email: str = "",
    notice: str = "",
) -> Response:
    context = {
        "next": local_path(next),
        "email": email,
        "notice": notice,
        "csrf_token": form_token,
        "signed_in": None,
        "party": relying_party(settings),
        "error": refusal.message if refusal else "",
        "hint": refusal.hint if refusal else "",
    }
    status = http_status(refusal) if refusal else 200
    return render(request, template, context, status_code=status)


def local_path(given: str) -> str:
    """`given` if it is a path on this server, else "/": sign-in must not send people elsewhere.

    Browsers read a backslash as a slash, and drop tabs and line ends inside addresses.
    """
    cleaned = "".join(character for character in given if character > " ").replace("\\", "/")
    return cleaned if cleaned.startswith("/") and not cleaned.startswith("//") else "/"
