"""What routes are handed: the kernel, a transaction, who is asking.

Write transactions end with `scope="function"`: they commit before the response is sent, so a
client never sees success for something that was not stored.
"""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection, Request

from api.accounts import csrf
from api.accounts.limits import SignInLimits
from api.accounts.sessions import SignedIn, session_token, use_session
from api.errors import SignInRequired
from backread.domain import Principal
from backread.errors import NotAuthenticated
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import ReadSession, WriteSession
from backread.store.repositories import accounts


def get_kernel(connection: HTTPConnection) -> Kernel:
    kernel: Kernel = connection.app.state.kernel
    return kernel


KernelDep = Annotated[Kernel, Depends(get_kernel)]


def get_settings(kernel: KernelDep) -> Settings:
    return kernel.settings


SettingsDep = Annotated[Settings, Depends(get_settings)]


def get_sign_in_limits(connection: HTTPConnection) -> SignInLimits:
    limits: SignInLimits = connection.app.state.sign_in_limits
    return limits


SignInLimitsDep = Annotated[SignInLimits, Depends(get_sign_in_limits)]


def client_address(connection: HTTPConnection) -> str:
    """The client's network address. Behind a proxy: what uvicorn took from its headers, which it
    does for trusted proxies only."""
    return connection.client.host if connection.client else ""


ClientAddressDep = Annotated[str, Depends(client_address)]


def read_session(kernel: KernelDep) -> Iterator[ReadSession]:
    with kernel.store.read() as session:
        yield session


def write_session(kernel: KernelDep) -> Iterator[WriteSession]:
    with kernel.store.write() as session:
        yield session


ReadDep = Annotated[ReadSession, Depends(read_session, scope="function")]
WriteDep = Annotated[WriteSession, Depends(write_session, scope="function")]


def maybe_signed_in(connection: HTTPConnection, kernel: KernelDep) -> SignedIn | None:
    """Who is signed in in this browser, or None."""
    token = session_token(connection, kernel.settings)
    somebody = use_session(kernel, token) if token else None
    connection.state.signed_in = somebody  # for pages: `api.web.templating` greets by it
    return somebody


MaybeSignedInDep = Annotated[SignedIn | None, Depends(maybe_signed_in)]


def signed_in(request: Request, kernel: KernelDep, somebody: MaybeSignedInDep) -> SignedIn:
    """For pages: sends the browser to sign in (or to set the server up) and back again."""
    if somebody is not None:
        return somebody
    with kernel.store.read() as session:
        set_up_first = not accounts.has_sign_in(session)
    query = f"?{request.url.query}" if request.url.query else ""
    next_path = f"{request.url.path}{query}" if request.method in {"GET", "HEAD"} else "/"
    raise SignInRequired(next_path, set_up_first=set_up_first)


SignedInDep = Annotated[SignedIn, Depends(signed_in)]


def principal(somebody: MaybeSignedInDep) -> Principal:
    """For REST: 401 unless a browser session comes with the request.

    Tokens of AI clients are refused here: each is good for the one MCP server it was issued for
    (RFC 8707), and none of its scopes allows what these routes do.
    """
    if somebody is None:
        raise NotAuthenticated("Nobody is signed in.", hint="Sign in and try again.")
    return somebody.principal


PrincipalDep = Annotated[Principal, Depends(principal)]


async def check_csrf(request: Request, kernel: KernelDep, somebody: MaybeSignedInDep) -> None:
    """For every route that changes something: the form's own token, and an Origin that is ours.

    The token comes in the `X-CSRF-Token` header or in the field `csrf_token` of a URL-encoded
    form. Raises AccessDenied.
    """
    csrf.check_origin(request, kernel.settings)
    expected = (
        somebody.csrf_token
        if somebody
        else request.cookies.get(csrf.form_cookie_name(kernel.settings))
    )
    csrf.check_token(expected, await csrf.given_token(request))


CsrfDep = Depends(check_csrf)


def form_token(request: Request, kernel: KernelDep, somebody: MaybeSignedInDep) -> str:
    """The token to put into a form's hidden field `csrf_token`."""
    return somebody.csrf_token if somebody else csrf.anonymous_token(request, kernel.settings)


FormTokenDep = Annotated[str, Depends(form_token)]
