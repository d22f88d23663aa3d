"""Who has an account here: invites, roles, disabling, enabling, removing. For owners.

However these are combined, an owner who can sign in always remains.
"""

from dataclasses import dataclass
from datetime import timedelta

from api.accounts.service import create_account
from backread.crypto import hash_token, new_token
from backread.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from backread.log import get_logger
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Account, Invite
from backread.store.repositories import accounts, passkeys, people
from ingest.erasing import enqueue_erasing

INVITE_PREFIX = "bri_"
INVITE_DAYS = 7
MOST_INVITES = 100
MAX_NAME = 200
_log = get_logger("api.accounts")


@dataclass(frozen=True, slots=True)
class NewAccount:
    """What somebody who was invited fills in."""

    email: str
    password: str
    display_name: str = ""
    timezone: str = "UTC"


def invite(session: WriteSession, settings: Settings, *, invited_by: str, name: str = "") -> str:
    """The address that lets one person make a member's account, within `INVITE_DAYS`. It is never
    shown again. `name` says whom it is for. Raises InvalidInput, LimitExceeded."""
    name = " ".join(name.split())
    if len(name) > MAX_NAME:
        raise InvalidInput(f"The name is longer than {MAX_NAME} characters.")
    token, now = new_token(INVITE_PREFIX), utcnow()
    people.delete_ended_invites(session, now=now)
    if len(people.list_invites(session, now=now)) >= MOST_INVITES:
        raise LimitExceeded(f"{MOST_INVITES} invites are open.", hint="Revoke some first.")
    row = Invite(
        token_hash=hash_token(token),
        invited_by=invited_by,
        name=name,
        created_at=now,
        expires_at=now + timedelta(days=INVITE_DAYS),
    )
    session.add(row)
    session.flush()
    _log.info("invite_made", account_id=invited_by, invite_id=row.id)
    return f"{settings.origin}/join?token={token}"


def accept_invite(session: WriteSession, token: str, new: NewAccount) -> Account:
    """Makes the member's account and uses the invite up, in one transaction.

    Raises NotFound when the invite is not good (any more), and as `create_account`; then the
    invite stays.
    """
    if people.find_invite(session, hash_token(token), now=utcnow()) is None:
        raise invite_ended()
    account = create_account(
        session,
        email=new.email,
        password=new.password,
        display_name=new.display_name,
        timezone=new.timezone,
    )
    if not people.take_invite(session, hash_token(token), now=utcnow()):
        raise invite_ended()
    _log.info("invite_accepted", account_id=account.id)
    return account


def invite_ended() -> NotFound:
    return NotFound(
        "This invite is not valid: it was used, was revoked or has expired.",
        hint="If you have just made your account, sign in. Else ask the owner for a new invite.",
    )


def revoke_invite(session: WriteSession, invite_id: str) -> None:
    """Raises NotFound when there is no such invite any more."""
    if not people.delete_invite(session, invite_id):
        raise NotFound("There is no such invite.", hint="It was used or revoked already.")


def make_owner(session: WriteSession, account_id: str) -> None:
    """Lets the person manage the server too. Raises NotFound, and Conflict for an account that
    is disabled or being removed."""
    account = _found(session, account_id)
    if account.disabled_at is not None:
        raise Conflict("This account is disabled.", hint="Enable it first.")
    account.role = accounts.OWNER
    _log.info("account_made_owner", account_id=account_id)


def make_member(session: WriteSession, account_id: str) -> None:
    """Leaves the person their own archive and nothing to manage; the invites they made end.
    Raises NotFound, and Conflict for the last owner."""
    account = _found(session, account_id)
    _check_owner_remains(session, account)
    account.role = accounts.MEMBER
    people.delete_invites_by(session, account_id)
    _log.info("account_made_member", account_id=account_id)


def disable(session: WriteSession, account_id: str) -> None:
    """Nobody gets in any more: not the browsers, which are signed out, nor connected clients and
    scripts, nor anybody by an invite that this person made. Everything else is kept. Raises
    NotFound, and Conflict for the last owner."""
    account = _found(session, account_id)
    _check_owner_remains(session, account)
    if account.disabled_at is None:
        account.disabled_at = utcnow()
    accounts.delete_sign_ins_of(session, account_id)
    passkeys.delete_challenges_of(session, account_id)
    people.delete_invites_by(session, account_id)
    _log.info("account_disabled", account_id=account_id)


def enable(session: WriteSession, account_id: str) -> None:
    """Lets a disabled account sign in again; its clients and scripts go on. Raises NotFound, and
    Conflict when it is being removed."""
    account = _found(session, account_id)
    account.disabled_at = None
    _log.info("account_enabled", account_id=account_id)


def remove(session: WriteSession, account_id: str) -> None:
    """Disables the account at once and erases it with everything in it, in the background. There
    is no way back. Raises as `disable`."""
    disable(session, account_id)
    _found(session, account_id).removed_at = utcnow()
    session.flush()
    enqueue_erasing(session, account_id)
    _log.info("account_removed", account_id=account_id)


def _found(session: WriteSession, account_id: str) -> Account:
    account = session.get(Account, account_id)
    if account is None:
        raise NotFound("There is no such account.")
    if account.removed_at is not None:
        raise Conflict("This account is being removed.", hint="It is gone in a moment.")
    return account


def _check_owner_remains(session: WriteSession, account: Account) -> None:
    if account.role != accounts.OWNER:
        return
    if all(owner.id == account.id for owner in people.lock_owners(session)):
        raise Conflict(
            "This is the only owner who can sign in.",
            hint="Add another one first: backread user add EMAIL --owner",
        )
