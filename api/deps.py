"""What routes are handed: the kernel, a transaction, who is asking.

Write transactions end with `scope="function"`: they commit before the response is sent, so a
client never sees success for something that was not stored.
"""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Security
from fastapi.security import HTTPBearer
from starlette.requests import HTTPConnection, Request

from api.accounts import csrf
from api.accounts.limits import SignInLimits
from api.accounts.personal_tokens import sent_token, use_token
from api.accounts.sessions import SignedIn, session_token, use_session
from api.client_address import address_of
from api.errors import SignInRequired
from backread.domain import Principal, Scope
from backread.errors import AccessDenied, InsufficientScope, NotAuthenticated
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


def client_address(connection: HTTPConnection, settings: SettingsDep) -> str:
    """The client's network address, also behind a trusted proxy."""
    return address_of(connection, settings)


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
    """Who is signed in in this browser, or None. A script's request never is."""
    token = None if sent_token(connection) else session_token(connection, kernel.settings)
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


# Reads nothing that counts; it tells the OpenAPI description how scripts get in.
PERSONAL_TOKEN = HTTPBearer(
    scheme_name="personal_token",
    description="A token from Settings, Access tokens.",
    auto_error=False,
)


class Allowed:
    """For REST: who is asking, if they may. 401 unless a browser session or a personal token comes
    with the request, 403 when the token lacks one of the permissions.

    Tokens of AI clients are refused here: each is good for the one MCP server that it was issued
    for (RFC 8707).
    """

    def __init__(self, *scopes: Scope) -> None:
        self.scopes = frozenset(scopes)

    def __call__(
        self,
        connection: HTTPConnection,
        kernel: KernelDep,
        somebody: MaybeSignedInDep,
        _described: Annotated[object, Security(PERSONAL_TOKEN)],
    ) -> Principal:
        token = sent_token(connection)
        if token is None:
            if somebody is None:
                raise NotAuthenticated(
                    "Nobody is signed in.", hint="Sign in, or send a personal token."
                )
            return somebody.principal
        principal = use_token(kernel, token)
        if principal is None:
            raise NotAuthenticated(
                "The token is not valid: it is mistyped, has expired or was revoked.",
                hint="Make a new one under Settings, Access tokens.",
            )
        if not self.scopes <= principal.scopes:
            names = frozenset(scope.value for scope in self.scopes)
            raise InsufficientScope(
                names, hint=f"Make a token that may: {' '.join(sorted(names))}."
            )
        return principal


HistoryReaderDep = Annotated[Principal, Depends(Allowed(Scope.CHAT_HISTORY_READ))]
HistoryWriterDep = Annotated[Principal, Depends(Allowed(Scope.CHAT_HISTORY_WRITE))]
ExporterDep = Annotated[Principal, Depends(Allowed(Scope.CHAT_HISTORY_READ, Scope.MEMORY_READ))]
MemoryReaderDep = Annotated[Principal, Depends(Allowed(Scope.MEMORY_READ))]
MemoryWriterDep = Annotated[Principal, Depends(Allowed(Scope.MEMORY_WRITE))]


def owner(somebody: SignedInDep) -> SignedIn:
    """For the pages that manage the server. Raises AccessDenied for everybody else."""
    if somebody.role != accounts.OWNER:
        raise AccessDenied("Only an owner of this server can do that.")
    return somebody


OwnerDep = Annotated[SignedIn, Depends(owner)]


async def check_csrf(request: Request, kernel: KernelDep, somebody: MaybeSignedInDep) -> None:
    """For every route that changes something: the form's own token, and an Origin that is ours.

    The token comes in the `X-CSRF-Token` header or in the field `csrf_token` of a URL-encoded
    form. Raises AccessDenied. A script's token needs none of this: no browser sends one by itself.
    """
    if sent_token(request):
        return
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
