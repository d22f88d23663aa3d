"""Browser sign-ins: a random token in a cookie, its hash in the database.

A sign-in ends after `session_days` unused. It gets a fresh token at every sign-in, never one that
the browser brought along, so nobody can plant a token and wait for its use (session fixation).
"""

import ipaddress
from dataclasses import dataclass
from datetime import timedelta

from starlette.requests import HTTPConnection
from starlette.responses import Response

from backread.crypto import hash_token, new_token
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Account, WebSession
from backread.store.repositories import accounts

_TOUCH_EVERY = timedelta(minutes=5)  # so that reading pages does not write to the database


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Who is signed in, in this browser."""

    session_id: str
    account_id: str
    email: str
    display_name: str
    role: str
    timezone: str
    csrf_token: str

    @property
    def principal(self) -> Principal:
        """People have every permission on their own account."""
        return Principal(self.account_id, scopes=frozenset(Scope), timezone=self.timezone)


def create_session(
    session: WriteSession,
    account: Account,
    user_agent: str = "",
    *,
    address: str = "",
    days: int = 30,
) -> str:
    """Signs the account in and returns the token for the cookie. `days`: see `session_days`."""
    now = utcnow()
    accounts.delete_ended_sign_ins(session, now=now)
    token = new_token()
    session.add(
        WebSession(
            account_id=account.id,
            token_hash=hash_token(token),
            csrf_token=new_token(),
            user_agent=user_agent[:300],
            network=_shown_network(address),
            expires_at=now + timedelta(days=days),
        )
    )
    return token


def _shown_network(address: str) -> str:
    """Enough of an address for its owner to recognise; "" for what is none."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return ""
    if parsed.is_loopback:
        return "this machine"
    bits = 24 if parsed.version == 4 else 48
    return str(ipaddress.ip_network((parsed, bits), strict=False))


def use_session(kernel: Kernel, token: str) -> SignedIn | None:
    """Who the token signs in, or None when it is unknown or has ended. Puts off its end."""
    now = utcnow()
    with kernel.store.read() as session:
        found = accounts.find_sign_in(session, hash_token(token), now=now)
    if not found:
        return None
    if now - found[0].last_seen_at > _TOUCH_EVERY:
        expires_at = now + timedelta(days=kernel.settings.session_days)
        with kernel.store.write() as session:
            accounts.extend_sign_in(session, found[0].id, now=now, expires_at=expires_at)
    return _signed_in(*found)


def end_session(session: WriteSession, token: str) -> None:
    """Signs out. Unknown tokens are ignored."""
    accounts.delete_sign_in(session, hash_token(token))


def _signed_in(row: WebSession, account: Account) -> SignedIn:
    return SignedIn(
        session_id=row.id,
        account_id=account.id,
        email=account.email,
        display_name=account.display_name,
        role=account.role,
        timezone=account.timezone,
        csrf_token=row.csrf_token,
    )


def cookie_name(settings: Settings) -> str:
    return _cookie(settings, "session")


def session_token(connection: HTTPConnection, settings: Settings) -> str | None:
    """The token that the browser sent, if any."""
    return connection.cookies.get(cookie_name(settings))


def set_session_cookie(response: Response, settings: Settings, token: str) -> None:
    """Keeps the browser signed in."""
    _set(response, settings, "session", token, seconds=settings.session_days * 24 * 3600)


def clear_session_cookie(response: Response, settings: Settings) -> None:
    """Makes the browser forget the sign-in."""
    _clear(response, settings, "session")


def step_token(connection: HTTPConnection, settings: Settings) -> str:
    """The token of a sign-in that waits for its code; "" when there is none."""
    return connection.cookies.get(_cookie(settings, "step")) or ""


def set_step_cookie(response: Response, settings: Settings, token: str, *, seconds: int) -> None:
    """Lets the browser go on with a sign-in whose password was right."""
    _set(response, settings, "step", token, seconds=seconds)


def clear_step_cookie(response: Response, settings: Settings) -> None:
    _clear(response, settings, "step")


def _cookie(settings: Settings, name: str) -> str:
    """`__Host-` binds the cookie to this very host; browsers accept it over https only."""
    secure = settings.origin.startswith("https://")
    return f"__Host-backread_{name}" if secure else f"backread_{name}"


def _set(response: Response, settings: Settings, name: str, value: str, *, seconds: int) -> None:
    response.set_cookie(
        _cookie(settings, name),
        value,
        max_age=seconds,
        path="/",
        secure=settings.origin.startswith("https://"),
        httponly=True,
        samesite="lax",
    )


def _clear(response: Response, settings: Settings, name: str) -> None:
    response.delete_cookie(
        _cookie(settings, name),
        path="/",
        secure=settings.origin.startswith("https://"),
        httponly=True,
        samesite="lax",
    )
