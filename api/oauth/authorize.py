"""The authorization endpoint (RFC 6749 §3.1): checks a request, then asks the person.

`GET` issues nothing: clients and link previews fetch this address without a person. For somebody
signed in it stores what the consent page asks about, so that the answer can be bound to it.
"""

import re
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from api.accounts.sessions import SignedIn
from api.deps import KernelDep, MaybeSignedInDep, signed_in
from api.oauth import redirects, resources
from api.oauth.client_documents import ClientDocuments
from api.oauth.consent_page import consent_page, problem_page
from api.oauth.errors import AuthorizePageError, OAuthError
from api.oauth.forms import Params
from api.oauth.scopes import requested_scopes
from backread.crypto import new_token
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import ReadSession
from backread.store.models import OAuthClient, OAuthConsent
from backread.store.repositories import oauth

router = APIRouter(include_in_schema=False)

CONSENT_LIFE = timedelta(minutes=10)
_CHALLENGE = re.compile(r"[A-Za-z0-9\-_]{43}")  # SHA-256 in base64url without padding
_RESET_HINT = (
    "Remove Backread from the client's list of connections and add it again, so that it registers "
    "anew. In Claude Code: `claude mcp remove` and `claude mcp add`; with mcp-remote: delete "
    "~/.mcp-auth."
)


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A request that passed every check, as it is kept until the person answers."""

    client_id: str
    redirect_uri: str
    state: str | None
    code_challenge: str
    scopes: list[str]
    resource: str


@router.api_route("/authorize", methods=["GET", "HEAD"])
async def authorize(request: Request, kernel: KernelDep, somebody: MaybeSignedInDep) -> Response:
    """RFC 6749 §4.1.1 with PKCE (RFC 7636), resource (RFC 8707) and issuer (RFC 9207)."""
    params = Params(request.query_params.multi_items())
    client_id = params.get("client_id") or ""
    documents: ClientDocuments = request.app.state.client_documents
    if request.method == "GET" and documents.names_document(client_id):
        # Strangers make this server fetch nothing: whoever is signed out signs in first.
        await run_in_threadpool(signed_in, request, kernel, somebody)
        try:
            await documents.ensure(kernel, client_id)
        except AuthorizePageError as error:
            return problem_page(request, error)
    return await run_in_threadpool(_authorize, request, kernel, somebody, params)


def _authorize(
    request: Request, kernel: Kernel, somebody: SignedIn | None, params: Params
) -> Response:
    settings = kernel.settings
    with kernel.store.read() as session:
        try:
            client, redirect_uri = checked_client(session, params)
        except AuthorizePageError as error:
            return problem_page(request, error)
    try:
        wanted = checked_request(settings, client, redirect_uri, params)
    except OAuthError as error:
        return error_redirect(settings, redirect_uri, params.get("state"), error)
    somebody = signed_in(request, kernel, somebody)
    if request.method == "HEAD":
        return Response(headers={"Content-Type": "text/html; charset=utf-8"})
    consent = OAuthConsent(
        id=new_token(),
        account_id=somebody.account_id,
        session_id=somebody.session_id,
        client_id=client.id,
        request=asdict(wanted),
        expires_at=utcnow() + CONSENT_LIFE,
    )
    with kernel.store.write() as session:
        oauth.delete_ended(
            session,
            now=utcnow(),
            superseded_before=utcnow() - CONSENT_LIFE,
            granted_before=utcnow() - timedelta(days=settings.refresh_token_absolute_days),
        )
        session.add(consent)
    return consent_page(request, somebody, client, consent)


def checked_client(session: ReadSession, params: Params) -> tuple[OAuthClient, str]:
    """The client and the address to redirect to.

    Raises AuthorizePageError: while either is in doubt, nobody is redirected anywhere.
    """
    for name in ("client_id", "redirect_uri"):
        if name in params.repeated:
            raise AuthorizePageError(
                f"The client sent {name} twice.", hint=_RESET_HINT, code="invalid_request"
            )
    client_id = params.get("client_id")
    client = oauth.find_client(session, client_id) if client_id else None
    if client is None:
        raise AuthorizePageError(
            "The client that sent you here is not registered with this server, or was "
            "forgotten because it was never used.",
            hint=_RESET_HINT,
            code="invalid_client",
        )
    registered: list[str] = client.metadata_.get("redirect_uris", [])
    redirect_uri = params.get("redirect_uri")
    if redirect_uri is None and len(registered) == 1:
        return client, registered[0]
    if redirect_uri is None or not any(redirects.matches(uri, redirect_uri) for uri in registered):
        raise AuthorizePageError(
            "The client asked to be answered at an address that it has not registered.",
            hint=_RESET_HINT,
            code="invalid_redirect_uri",
        )
    return client, redirect_uri


def checked_request(
    settings: Settings, client: OAuthClient, redirect_uri: str, params: Params
) -> AuthorizationRequest:
    """Raises OAuthError, to be sent to the client (RFC 6749 §4.1.2.1)."""
    params.check_repeated()
    response_type = params.get("response_type")
    if response_type is None:
        raise OAuthError("invalid_request", "response_type is missing")
    if response_type != "code":
        raise OAuthError("unsupported_response_type", "only response_type=code is supported")
    if params.get("response_mode") not in {None, "query"}:
        raise OAuthError("invalid_request", "only response_mode=query is supported")
    if params.get("request") or params.get("request_uri"):
        raise OAuthError("request_not_supported", "send the parameters themselves")
    if params.get("prompt") == "none":
        raise OAuthError("interaction_required", "consent is asked for every time")
    resource = _checked_resource(settings, params)
    known = resources.resource_of(resource).scopes
    scopes = requested_scopes(params.get("scope"), known)
    if scopes is None:
        raise OAuthError("invalid_scope", "none of the requested scopes exists here")
    return AuthorizationRequest(
        client_id=client.id,
        redirect_uri=redirect_uri,
        state=params.get("state"),
        code_challenge=_checked_challenge(params),
        scopes=[scope.value for scope in scopes],
        resource=resource,
    )


def _checked_challenge(params: Params) -> str:
    """RFC 7636 §4.4.1. A missing method means `plain` there, which OAuth 2.1 forbids."""
    challenge = params.get("code_challenge")
    if challenge is None:
        raise OAuthError("invalid_request", "code_challenge is missing (PKCE is required)")
    if params.get("code_challenge_method") != "S256":
        raise OAuthError("invalid_request", "code_challenge_method must be S256")
    if not _CHALLENGE.fullmatch(challenge):
        raise OAuthError("invalid_request", "code_challenge is not a SHA-256 in base64url")
    return challenge


def _checked_resource(settings: Settings, params: Params) -> str:
    """RFC 8707 §2.1. Clients from before 2025-06-18 name none; they mean recall, which was there
    first. A grant is for one resource, so two of them are refused."""
    own = resources.recall_resource(settings)
    named = {resources.known_resource(settings, each) for each in params.all("resource")}
    if None in named:
        other = resources.notes_resource(settings)
        raise OAuthError("invalid_target", f"this server's resources are {own} and {other}")
    if len(named) > 1:
        raise OAuthError("invalid_target", "name one resource")
    return next(filter(None, named), own)


def error_redirect(
    settings: Settings, redirect_uri: str, state: str | None, error: OAuthError
) -> Response:
    """RFC 6749 §4.1.2.1, with `iss` as RFC 9207 §2 asks on errors too."""
    return answer_redirect(
        settings,
        redirect_uri,
        state,
        {"error": error.code, "error_description": error.description},
    )


def answer_redirect(
    settings: Settings, redirect_uri: str, state: str | None, answer: dict[str, str]
) -> Response:
    params: dict[str, Any] = dict(answer)
    if state is not None:
        params["state"] = state
    params["iss"] = resources.issuer(settings)
    return RedirectResponse(
        redirects.with_params(redirect_uri, params),
        status_code=303,
        headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"},
    )
