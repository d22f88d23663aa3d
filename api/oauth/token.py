"""The token endpoint (RFC 6749 §3.2): codes and refresh tokens into access tokens.

Everything about one grant happens one after another: the grant's row is locked first. So twenty
parallel refreshes with one token give twenty answers, all good.
"""

import base64
import hashlib
import re
from datetime import datetime, timedelta
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from api.deps import KernelDep
from api.oauth import resources
from api.oauth.clients import authenticated_client, presented_credentials
from api.oauth.errors import NO_STORE, OAuthError
from api.oauth.forms import Params, form_params
from api.oauth.scopes import scope_string
from api.oauth.tokens import grant_ends_at, issue_tokens
from backread.crypto import hash_token, same_secret
from backread.kernel import Kernel
from backread.log import get_logger
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import OAuthCode, OAuthGrant, OAuthToken
from backread.store.repositories import oauth

router = APIRouter(include_in_schema=False)

_log = get_logger("api.oauth")
_VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}")  # RFC 7636 §4.1

Answer = dict[str, Any] | OAuthError


@router.post("/token")
async def token(request: Request, kernel: KernelDep) -> JSONResponse:
    """RFC 6749 §4.1.3 and §6."""
    try:
        params = await form_params(request)
        params.check_repeated()
        credentials = presented_credentials(request.headers.get("authorization"), params)
        answer = await run_in_threadpool(_answer, kernel, params, credentials)
    except OAuthError as error:
        answer = error
    if isinstance(answer, OAuthError):
        return answer.response()
    return JSONResponse(answer, headers=NO_STORE)


def _answer(kernel: Kernel, params: Params, credentials: tuple[str | None, str | None]) -> Answer:
    grant_type = params.get("grant_type")
    with kernel.store.write() as session:
        if grant_type == "authorization_code":
            return exchange_code(session, kernel.settings, params, credentials)
        if grant_type == "refresh_token":
            return refresh(session, kernel.settings, params, credentials)
        authenticated_client(session, *credentials)
    if grant_type is None:
        raise OAuthError("invalid_request", "grant_type is missing")
    raise OAuthError(
        "unsupported_grant_type", "use the grant type authorization_code or refresh_token"
    )


def exchange_code(
    session: WriteSession,
    settings: Settings,
    params: Params,
    credentials: tuple[str | None, str | None],
) -> Answer:
    """RFC 6749 §4.1.3, RFC 7636 §4.6.

    An error that must leave something behind in the database is returned, since a raised one
    rolls back: a code used twice ends the grant that it made (RFC 6749 §4.1.2, RFC 9700 §4.5).
    """
    client = authenticated_client(session, *credentials)
    value = params.get("code")
    if value is None:
        raise OAuthError("invalid_request", "code is missing")
    code = oauth.find_code_for_update(session, hash_token(value))
    if code is None or code.client_id != client.id:
        raise _invalid_grant("the authorization code is unknown")
    now = utcnow()
    if code.used_at is not None:
        oauth.revoke_grant(session, code.grant_id, now=now)
        _log.warning("authorization_code_replayed", client_id=client.id, grant_id=code.grant_id)
        return _invalid_grant("the authorization code was used already; the grant has ended")
    if code.expires_at <= now:
        raise _invalid_grant("the authorization code has expired; start again")
    _check_code_binding(code, params)
    grant = oauth.find_grant_for_update(session, code.grant_id)
    if grant is None or grant.revoked_at is not None:
        raise _invalid_grant("the grant has ended")
    if not oauth.account_is_usable(session, grant.account_id):
        raise _invalid_grant("the account is disabled")
    _check_resource(settings, grant, params)
    code.used_at = now
    return _issued(session, settings, grant, now=now)


def _check_code_binding(code: OAuthCode, params: Params) -> None:
    redirect_uri = params.get("redirect_uri")
    if redirect_uri is not None and redirect_uri != code.redirect_uri:
        raise _invalid_grant("redirect_uri differs from the authorization request's")
    verifier = params.get("code_verifier")
    if verifier is None:
        raise OAuthError("invalid_request", "code_verifier is missing (PKCE is required)")
    if not _VERIFIER.fullmatch(verifier):
        raise _invalid_grant("code_verifier is not 43 to 128 unreserved characters")
    if not same_secret(s256(verifier), code.code_challenge):
        raise _invalid_grant("code_verifier does not match the code_challenge")


def s256(verifier: str) -> str:
    """RFC 7636 §4.2."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def refresh(
    session: WriteSession,
    settings: Settings,
    params: Params,
    credentials: tuple[str | None, str | None],
) -> Answer:
    """RFC 6749 §6 with rotation (RFC 9700 §4.14.2) and a grace window.

    A rotated token still works for `refresh_grace_seconds`, because one client may be several
    processes that share a token file; used later it is taken for stolen and ends the grant.
    The `scope` parameter is not used: a refresh never shrinks what was granted.
    """
    value = params.get("refresh_token")
    if value is None:
        raise OAuthError("invalid_request", "refresh_token is missing")
    found = oauth.find_token(session, hash_token(value), oauth.REFRESH)
    grant = oauth.find_grant_for_update(session, found.grant_id) if found else None
    client_id, secret = credentials
    if client_id is None and grant is not None:
        client_id = grant.client_id  # a public client is identified by its token well enough
    client = authenticated_client(session, client_id, secret)
    if grant is None or grant.client_id != client.id:
        raise _invalid_grant("the refresh token is unknown or was revoked")
    # Read again now that the grant is locked: another request may have rotated or revoked it.
    session.expire_all()
    token = oauth.find_token(session, hash_token(value), oauth.REFRESH)
    now = utcnow()
    _check_alive(session, settings, grant, token, now)
    assert token is not None
    if token.superseded_at is not None:
        grace = timedelta(seconds=settings.refresh_grace_seconds)
        if now - token.superseded_at > grace:
            oauth.revoke_grant(session, grant.id, now=now)
            _log.warning("refresh_token_replayed", client_id=client.id, grant_id=grant.id)
            return _invalid_grant("the refresh token was replaced long ago; the grant has ended")
    _check_resource(settings, grant, params)
    if token.superseded_at is None:
        token.superseded_at = now
    return _issued(session, settings, grant, now=now)


def _check_alive(
    session: WriteSession,
    settings: Settings,
    grant: OAuthGrant,
    token: OAuthToken | None,
    now: datetime,
) -> None:
    if token is None or grant.revoked_at is not None:
        raise _invalid_grant("the refresh token is unknown or was revoked")
    if token.expires_at <= now or grant_ends_at(settings, grant) <= now:
        raise _invalid_grant("the refresh token has expired; sign in again")
    if not oauth.account_is_usable(session, grant.account_id):
        raise _invalid_grant("the account is disabled")


def _check_resource(settings: Settings, grant: OAuthGrant, params: Params) -> None:
    """RFC 8707 §2.2: a token request may name the resource again, not another one."""
    for named in params.all("resource"):
        if resources.known_resource(settings, named) != grant.resource:
            raise OAuthError(
                "invalid_target", f"this grant is for {grant.resource}, not {named[:200]}"
            )


def _issued(
    session: WriteSession, settings: Settings, grant: OAuthGrant, *, now: datetime
) -> dict[str, Any]:
    """RFC 6749 §5.1."""
    pair = issue_tokens(session, settings, grant, now=now)
    grant.last_used_at = now
    session.flush()
    return {
        "access_token": pair.access,
        "token_type": "Bearer",
        "expires_in": pair.expires_in,
        "refresh_token": pair.refresh,
        "scope": scope_string(grant.scopes),
    }


def _invalid_grant(description: str) -> OAuthError:
    return OAuthError("invalid_grant", description)
