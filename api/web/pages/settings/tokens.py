"""Personal tokens for scripts."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.personal_tokens import MAX_NAME, make_token, revoke_token
from api.accounts.service import confirm_password
from api.accounts.sessions import SignedIn
from api.deps import (
    ClientAddressDep,
    CsrfDep,
    KernelDep,
    SignedInDep,
    SignInLimitsDep,
    WriteDep,
)
from api.oauth.resources import recall_resource
from api.oauth.scopes import SCOPE_TEXTS
from api.web.templating import render
from backread.errors import AccessDenied, BackreadError, InvalidInput, LimitExceeded, RateLimited
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.repositories.personal_tokens import list_tokens

router = APIRouter()

# Days, and how the choice reads; 0 is for ever.
LIVES = {30: "30 days", 90: "90 days", 365: "A year", 0: "No end"}


@router.get("/settings/tokens")
def tokens_page(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, revoked: bool = False
) -> Response:
    notice = "The token is revoked." if revoked else ""
    return _page(request, kernel, signed_in, notice=notice)


@router.post("/settings/tokens", dependencies=[CsrfDep])
def create_token(
    request: Request,
    kernel: KernelDep,
    limits: SignInLimitsDep,
    address: ClientAddressDep,
    signed_in: SignedInDep,
    current_password: Annotated[str, Form()],
    name: Annotated[str, Form()] = "",
    scope: Annotated[list[str], Form()] = [],  # noqa: B006 - FastAPI copies it
    days: Annotated[int, Form()] = 90,
) -> Response:
    try:
        confirm_password(kernel, limits, signed_in, current_password, address=address)
        with kernel.store.write() as session:
            token = make_token(
                session, signed_in.account_id, name=name, scopes=scope, days=days or None
            )
    except (AccessDenied, InvalidInput, LimitExceeded, RateLimited) as error:
        given = {"name": name, "scopes": scope, "days": days}
        return _page(request, kernel, signed_in, refusal=error, given=given)
    return _page(request, kernel, signed_in, new_token=token)


@router.post("/settings/tokens/{token_id}/revoke", dependencies=[CsrfDep])
def end_token(session: WriteDep, signed_in: SignedInDep, token_id: str) -> Response:
    revoke_token(session, signed_in.account_id, token_id)
    return RedirectResponse("/settings/tokens?revoked=true", status_code=303)


def _page(
    request: Request,
    kernel: Kernel,
    signed_in: SignedIn,
    *,
    notice: str = "",
    refusal: BackreadError | None = None,
    given: dict[str, object] | None = None,
    new_token: str = "",
) -> Response:
    with kernel.store.read() as session:
        tokens = list_tokens(session, signed_in.account_id)
    context = {
        "signed_in": signed_in,
        "notice": notice,
        "error": refusal.message if refusal else "",
        "hint": refusal.hint if refusal else "",
        "given": given or {"name": "", "scopes": [], "days": 90},
        "new_token": new_token,
        "tokens": tokens,
        "now": utcnow(),
        "scope_texts": {scope.value: text for scope, text in SCOPE_TEXTS.items()},
        "lives": LIVES,
        "max_name": MAX_NAME,
        "origin": kernel.settings.origin,
        "mcp_url": recall_resource(kernel.settings),
    }
    status = 200 if refusal is None else 429 if isinstance(refusal, RateLimited) else 400
    return render(request, "settings/tokens.html", context, status_code=status)
