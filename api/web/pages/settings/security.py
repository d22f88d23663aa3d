"""How one signs in: password, authenticator app, passkeys."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts import second_factor
from api.accounts.passkeys import relying_party
from api.accounts.service import change_password, confirm_password
from api.accounts.sessions import SignedIn
from api.deps import (
    ClientAddressDep,
    CsrfDep,
    KernelDep,
    ReadDep,
    SignedInDep,
    SignInLimitsDep,
)
from api.errors import http_status
from api.web.templating import render
from backread.errors import (
    AccessDenied,
    BackreadError,
    Conflict,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    RateLimited,
)
from backread.kernel import Kernel
from backread.store.models import Account
from backread.store.repositories.passkeys import list_passkeys
from backread.store.repositories.second_factors import count_recovery_codes, find_confirmed_app

router = APIRouter()

_NOTICES = {
    "password": "Your password is changed. Other browsers are signed out.",
    "passkey": "The passkey is added. You can sign in with it from now on.",
    "removed": "The passkey is removed.",
    "off": "The authenticator app is turned off.",
}
_REFUSALS = (AccessDenied, Conflict, InvalidInput, NotAuthenticated, NotFound, RateLimited)
_PasswordField = Annotated[str, Form()]


@router.get("/settings/security")
def security_page(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, done: str = ""
) -> Response:
    return _page(request, kernel, signed_in, notice=_NOTICES.get(done, ""))


@router.post("/settings/password", dependencies=[CsrfDep])
def save_password(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    signed_in: SignedInDep,
    current_password: _PasswordField,
    new_password: _PasswordField,
) -> Response:
    try:
        change_password(
            kernel,
            limits,
            signed_in,
            current=current_password,
            new=new_password,
            address=address,
        )
    except _REFUSALS as error:
        return _page(request, kernel, signed_in, refusal=error)
    return RedirectResponse("/settings/security?done=password", status_code=303)


@router.post("/settings/app/begin", dependencies=[CsrfDep])
def begin_app(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    signed_in: SignedInDep,
    current_password: _PasswordField,
) -> Response:
    try:
        confirm_password(kernel, limits, signed_in, current_password, address=address)
        with kernel.store.write() as session:
            second_factor.begin_set_up(session, kernel.settings, signed_in.account_id)
    except _REFUSALS as error:
        return _page(request, kernel, signed_in, refusal=error)
    return RedirectResponse("/settings/app", status_code=303)


@router.get("/settings/app")
def app_page(
    request: Request, session: ReadDep, kernel: KernelDep, signed_in: SignedInDep
) -> Response:
    return _app_page(request, kernel, signed_in)


@router.post("/settings/app", dependencies=[CsrfDep])
def confirm_app(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    signed_in: SignedInDep,
    code: Annotated[str, Form()],
) -> Response:
    try:
        with kernel.store.write() as session:
            codes = second_factor.finish_set_up(
                session,
                kernel.settings,
                limits,
                signed_in.account_id,
                code,
                keep_session_id=signed_in.session_id,
            )
    except (NotAuthenticated, RateLimited) as error:
        return _app_page(request, kernel, signed_in, refusal=error)
    except NotFound:
        return RedirectResponse("/settings/security", status_code=303)
    return _recovery_codes_page(request, signed_in, codes, is_new=True)


@router.post("/settings/app/recovery-codes", dependencies=[CsrfDep])
def renew_recovery_codes(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    signed_in: SignedInDep,
    current_password: _PasswordField,
) -> Response:
    try:
        confirm_password(kernel, limits, signed_in, current_password, address=address)
        with kernel.store.write() as session:
            codes = second_factor.renew_recovery_codes(session, signed_in.account_id)
    except _REFUSALS as error:
        return _page(request, kernel, signed_in, refusal=error)
    return _recovery_codes_page(request, signed_in, codes, is_new=False)


@router.post("/settings/app/off", dependencies=[CsrfDep])
def turn_app_off(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    signed_in: SignedInDep,
    current_password: _PasswordField,
    code: Annotated[str, Form()],
) -> Response:
    try:
        confirm_password(kernel, limits, signed_in, current_password, address=address)
        with kernel.store.write() as session:
            second_factor.use_code(session, kernel.settings, limits, signed_in.account_id, code)
            second_factor.turn_off(session, signed_in.account_id)
    except _REFUSALS as error:
        return _page(request, kernel, signed_in, refusal=error)
    return RedirectResponse("/settings/security?done=off", status_code=303)


def _page(
    request: Request,
    kernel: Kernel,
    signed_in: SignedIn,
    *,
    notice: str = "",
    refusal: BackreadError | None = None,
) -> Response:
    party = relying_party(kernel.settings)
    with kernel.store.read() as session:
        context = {
            "signed_in": signed_in,
            "notice": notice,
            "error": refusal.message if refusal else "",
            "hint": refusal.hint if refusal else "",
            "app": find_confirmed_app(session, signed_in.account_id),
            "codes_left": count_recovery_codes(session, signed_in.account_id),
            "passkeys": list_passkeys(session, signed_in.account_id),
            "party": party,
        }
    status = _form_status(refusal) if refusal else 200
    return render(request, "settings/security.html", context, status_code=status)


def _form_status(refusal: BackreadError) -> int:
    """A wrong code or password in a form is no missing sign-in, so not 401 or 403."""
    return http_status(refusal) if isinstance(refusal, RateLimited) else 400


def _app_page(
    request: Request, kernel: Kernel, signed_in: SignedIn, refusal: BackreadError | None = None
) -> Response:
    with kernel.store.read() as session:
        account = session.get(Account, signed_in.account_id)
        assert account is not None  # signed in
        try:
            app = second_factor.pending_set_up(session, kernel.settings, account)
        except NotFound:
            return RedirectResponse("/settings/security", status_code=303)
    context = {
        "signed_in": signed_in,
        "error": refusal.message if refusal else "",
        "hint": refusal.hint if refusal else "",
        "secret": app.secret,
        "qr_code": app.qr_code(),
    }
    status = _form_status(refusal) if refusal else 200
    return render(request, "settings/app.html", context, status_code=status)


def _recovery_codes_page(
    request: Request, signed_in: SignedIn, codes: list[str], *, is_new: bool
) -> Response:
    context = {"signed_in": signed_in, "codes": codes, "is_new": is_new}
    return render(request, "settings/recovery_codes.html", context)
