"""Access and refresh tokens: opaque, 256 random bits, stored as hashes.

An access token is good for the one resource that its grant names (RFC 8707).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from api.accounts import personal_tokens
from backread.crypto import hash_token, new_token
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import OAuthGrant, OAuthToken
from backread.store.repositories import oauth

ACCESS_PREFIX = "bra_"
REFRESH_PREFIX = "brr_"
_NOTE_USE_EVERY = timedelta(minutes=5)  # so that reading tools do not write to the database


@dataclass(frozen=True, slots=True)
class TokenPair:
    access: str
    refresh: str
    expires_in: int  # seconds


def grant_ends_at(settings: Settings, grant: OAuthGrant) -> datetime:
    """When the person has to sign in again, however often the client refreshes."""
    return grant.created_at + timedelta(days=settings.refresh_token_absolute_days)


def issue_tokens(
    session: WriteSession, settings: Settings, grant: OAuthGrant, *, now: datetime
) -> TokenPair:
    """A new access and a new refresh token of a grant; others of it stay as they are."""
    end = grant_ends_at(settings, grant)
    access, refresh = new_token(ACCESS_PREFIX), new_token(REFRESH_PREFIX)
    access_end = min(now + timedelta(minutes=settings.access_token_minutes), end)
    refresh_end = min(now + timedelta(days=settings.refresh_token_idle_days), end)
    for kind, token, expires_at in (
        (oauth.ACCESS, access, access_end),
        (oauth.REFRESH, refresh, refresh_end),
    ):
        session.add(
            OAuthToken(
                token_hash=hash_token(token),
                grant_id=grant.id,
                kind=kind,
                created_at=now,
                expires_at=expires_at,
            )
        )
    return TokenPair(access, refresh, int((access_end - now).total_seconds()))


def verify_bearer(kernel: Kernel, token: str, resource: str) -> Principal | None:
    """Who an access token speaks for at this resource; None when it is not good there, now.
    A personal token is as good: it was made by hand for this server."""
    if token.startswith(personal_tokens.PREFIX):
        return personal_tokens.use_token(kernel, token)
    now = utcnow()
    with kernel.store.read() as session:
        live = oauth.find_live_access_token(session, hash_token(token), now=now)
    if live is None or live.resource != resource:
        return None
    if live.last_used_at is None or now - live.last_used_at > _NOTE_USE_EVERY:
        with kernel.store.write() as session:
            oauth.mark_used(session, live.grant_id, now=now)
    known = {scope.value for scope in Scope}
    return Principal(
        live.account_id,
        scopes=frozenset(Scope(scope) for scope in live.scopes if scope in known),
        client_id=live.client_id,
        timezone=live.timezone,
    )
