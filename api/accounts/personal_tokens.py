"""Personal tokens: what a script sends instead of signing in.

A token has 256 random bits, is shown once and stored as a hash. It carries the permissions that
its owner ticked, works at the REST interface and at the MCP endpoint, and nowhere else: no token
reaches the settings of an account, so none can make another one.
"""

from collections.abc import Sequence
from datetime import timedelta

from starlette.requests import HTTPConnection

from backread.crypto import hash_token, new_token
from backread.domain import Principal, Scope
from backread.errors import InvalidInput, LimitExceeded, NotFound
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import PersonalToken
from backread.store.repositories import personal_tokens

PREFIX = "brk_"
MAX_NAME = 100
MAX_DAYS = 3650
MOST_TOKENS = 100
_NOTE_USE_EVERY = timedelta(minutes=5)  # so that reading does not write to the database
_log = get_logger("api.accounts")


def make_token(
    session: WriteSession, account_id: str, *, name: str, scopes: Sequence[str], days: int | None
) -> str:
    """A new token, which is never shown again. It ends after `days`; None: when it is revoked.

    Raises InvalidInput for a name, permission or life that cannot be, and LimitExceeded when the
    account has too many.
    """
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME:
        raise InvalidInput(
            f"The token needs a name of at most {MAX_NAME} characters.",
            hint="Name the script or the machine, so that you know what to revoke.",
        )
    known = [scope.value for scope in Scope if scope.value in scopes]
    if not known or len(known) != len(set(scopes)):
        raise InvalidInput("Choose what the token may do.", hint=f"One of: {', '.join(Scope)}.")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise InvalidInput(f"A token can last from 1 to {MAX_DAYS} days.")
    if personal_tokens.count_tokens(session, account_id) >= MOST_TOKENS:
        raise LimitExceeded(f"You have {MOST_TOKENS} tokens.", hint="Revoke those you do not use.")
    token, now = new_token(PREFIX), utcnow()
    row = PersonalToken(
        account_id=account_id,
        token_hash=hash_token(token),
        name=name,
        scopes=known,
        created_at=now,
        expires_at=now + timedelta(days=days) if days is not None else None,
    )
    session.add(row)
    session.flush()
    _log.info("token_made", account_id=account_id, token_id=row.id, scopes=known)
    return token


def revoke_token(session: WriteSession, account_id: str, token_id: str) -> None:
    """Ends the token at once. Raises NotFound, also for another account's token."""
    if not personal_tokens.delete_token(session, account_id, token_id):
        raise NotFound("There is no such token.", hint="It was revoked already.")
    _log.info("token_revoked", account_id=account_id, token_id=token_id)


def use_token(kernel: Kernel, token: str) -> Principal | None:
    """Who the token speaks for; None when it is unknown, revoked or has ended."""
    now = utcnow()
    with kernel.store.read() as session:
        found = personal_tokens.find_live_token(session, hash_token(token), now=now)
    if found is None:
        return None
    row, account = found
    if row.last_used_at is None or now - row.last_used_at > _NOTE_USE_EVERY:
        with kernel.store.write() as session:
            personal_tokens.mark_used(session, row.id, now=now)
    known = {scope.value for scope in Scope}
    return Principal(
        account.id,
        scopes=frozenset(Scope(scope) for scope in row.scopes if scope in known),
        client_id=f"token:{row.id}",
        timezone=account.timezone,
    )


def sent_token(connection: HTTPConnection) -> str | None:
    """The personal token in the Authorization header (RFC 6750 §2.1), good or not; None when
    there is none. A request that has one speaks for it alone, whatever cookies come along: that
    is what makes it safe without a form's token."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token.startswith(PREFIX) else None
