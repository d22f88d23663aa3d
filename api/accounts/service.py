"""Accounts: making them, setting the server up, signing in."""

import re
import zoneinfo
from dataclasses import dataclass

import anyio
from anyio import to_thread

from api.accounts.limits import SignInLimits
from api.accounts.passwords import hash_password, needs_rehash, verify_password
from api.accounts.second_factor import begin_sign_in, has_second_factor
from api.accounts.sessions import SignedIn, create_session
from api.accounts.setup_token import discard_setup_token, is_setup_token
from backread.errors import AccessDenied, Conflict, InvalidInput, NotAuthenticated, NotFound
from backread.kernel import Kernel
from backread.log import get_logger
from backread.settings import Settings
from backread.store.engine import ReadSession, WriteSession, after_commit
from backread.store.models import Account
from backread.store.repositories import accounts, passkeys

_log = get_logger("api.accounts")
_EMAIL = re.compile(r"[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+")
_MAX_EMAIL = 254
_MAX_NAME = 200
LOCAL_OWNER_EMAIL = "owner@localhost"


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """What a sign-in form sent. `address` is the client's network address."""

    email: str
    password: str
    address: str
    user_agent: str = ""


def create_account(
    session: WriteSession,
    *,
    email: str,
    password: str,
    display_name: str = "",
    role: str = accounts.MEMBER,
    timezone: str = "UTC",
) -> Account:
    """Makes an account that can sign in.

    Raises InvalidInput for an address, password, name or time zone that cannot be used, and
    Conflict when the address has an account.
    """
    password_hash = hash_password(password)  # before the transaction takes any lock
    email = checked_email(email)
    account = Account(
        email=email,
        password_hash=password_hash,
        display_name=_checked_name(display_name),
        role=role,
        timezone=_checked_timezone(timezone),
    )
    # The database decides, also between two who ask at the same moment.
    if accounts.find_by_email(session, email) or not accounts.insert_account(session, account):
        raise Conflict(f"There is an account for {email} already.", hint="Sign in with it.")
    return account


def local_owner(session: WriteSession) -> Account:
    """The owner, made without a password when there is none yet: what the command line uses
    before anybody has opened the web page. Set-up later gives this account its password."""
    owner = accounts.find_owner(session)
    if owner is None:
        owner = Account(email=LOCAL_OWNER_EMAIL, password_hash="", role=accounts.OWNER)
        session.add(owner)
        session.flush()
    return owner


def needs_set_up(session: ReadSession) -> bool:
    """Whether the server still waits for its owner."""
    return not accounts.has_sign_in(session)


def set_up_owner(
    session: WriteSession,
    settings: Settings,
    *,
    token: str,
    email: str,
    password: str,
    display_name: str = "",
    timezone: str = "UTC",
) -> Account:
    """Makes the owner's account, or gives a password to the one that the command line made.

    The token works once: it is deleted when the owner is stored. Raises AccessDenied for a wrong
    token, Conflict when the server is set up already, InvalidInput as `create_account`.
    """
    if not is_setup_token(settings, token):
        raise AccessDenied(
            "The set-up link is not valid, or was used already.",
            hint="Use the address that `backread up` printed when it started.",
        )
    password_hash = hash_password(password)
    email, name = checked_email(email), _checked_name(display_name)
    zone = _checked_timezone(timezone)
    owner = local_owner(session)
    accounts.lock_account(session, owner.id)  # of two who ask at once, one is refused
    if accounts.has_sign_in(session):
        raise Conflict("This server is set up already.", hint="Sign in instead.")
    owner.email, owner.display_name = email, name
    owner.password_hash, owner.timezone = password_hash, zone
    session.flush()
    after_commit(session, lambda: discard_setup_token(settings))
    return owner


def update_profile(
    session: WriteSession, account_id: str, *, display_name: str, timezone: str
) -> None:
    """Raises InvalidInput as `create_account`, NotFound when there is no account."""
    name, zone = _checked_name(display_name), _checked_timezone(timezone)
    account = session.get(Account, account_id)
    if account is None:
        raise NotFound("There is no such account.")
    account.display_name, account.timezone = name, zone


def set_password(
    session: WriteSession, account_id: str, password: str, *, keep_session_id: str = ""
) -> None:
    """Gives the account a new password and ends its other browser sign-ins (ASVS 5.0, 7.4.3):
    whoever knew the old password is out. Connected clients keep their grants.

    Raises InvalidInput for a password that cannot be used, NotFound when there is no account.
    """
    password_hash = hash_password(password)
    account = session.get(Account, account_id)
    if account is None:
        raise NotFound("There is no such account.")
    account.password_hash = password_hash
    accounts.delete_sign_ins_of(session, account_id, except_id=keep_session_id)
    passkeys.delete_challenges_of(session, account_id)


def confirm_password(
    kernel: Kernel, limits: SignInLimits, signed_in: SignedIn, password: str, *, address: str
) -> None:
    """Asked for before anything that opens a new way into the account: a browser left open, or a
    stolen cookie, is not enough for that (ASVS 5.0, 7.5.1).

    Raises AccessDenied when the password is wrong, RateLimited as `authenticate`.
    """
    limits.take(address)
    if _verified_account(kernel, signed_in.email, password) is None:
        raise AccessDenied("The current password is wrong.")


def change_password(
    kernel: Kernel,
    limits: SignInLimits,
    signed_in: SignedIn,
    *,
    current: str,
    new: str,
    address: str,
) -> None:
    """`set_password` for somebody who is signed in and must show that they know the old one.

    Raises as `confirm_password`, InvalidInput as `set_password`.
    """
    confirm_password(kernel, limits, signed_in, current, address=address)
    with kernel.store.write() as session:
        set_password(session, signed_in.account_id, new, keep_session_id=signed_in.session_id)


async def authenticate(kernel: Kernel, limits: SignInLimits, attempt: SignInAttempt) -> Account:
    """The account, if the password is right.

    Raises RateLimited when the client's network has used up its tries and NotAuthenticated for a
    wrong address or password, without telling which. Hashing runs in a thread.
    """
    limits.take(attempt.address)
    email = attempt.email.strip().lower()[:_MAX_EMAIL]
    await anyio.sleep(limits.delay_seconds(email))
    account = await to_thread.run_sync(_verified_account, kernel, email, attempt.password)
    if account is None:
        limits.failed(email)
        _log.warning("sign_in_failed")
        raise _wrong_sign_in()
    limits.succeeded(email)
    return account


@dataclass(frozen=True, slots=True)
class CodeNeeded:
    """The password was right; the sign-in goes on with a code, under this token."""

    token: str


async def sign_in(kernel: Kernel, limits: SignInLimits, attempt: SignInAttempt) -> str | CodeNeeded:
    """Authenticates and starts a session; returns the token for its cookie. An account with a
    second factor gets no session yet: see `api.accounts.second_factor.finish_sign_in`."""
    account = await authenticate(kernel, limits, attempt)
    return await to_thread.run_sync(_start_session, kernel, account, attempt)


def _wrong_sign_in() -> NotAuthenticated:
    return NotAuthenticated("The e-mail address or the password is wrong.")


def _verified_account(kernel: Kernel, email: str, password: str) -> Account | None:
    with kernel.store.read() as session:
        account = accounts.find_by_email(session, email)
    usable = account is not None and account.disabled_at is None
    known_hash = account.password_hash if account is not None and usable else None
    if not verify_password(known_hash, password) or account is None:
        return None
    if needs_rehash(account.password_hash):
        fresh = hash_password(password)
        with kernel.store.write() as session:
            accounts.replace_password_hash(session, account, fresh)
        account.password_hash = fresh
    return account


def _start_session(kernel: Kernel, account: Account, attempt: SignInAttempt) -> str | CodeNeeded:
    with kernel.store.write() as session:
        if not accounts.is_unchanged(session, account):
            raise _wrong_sign_in()  # a new password, or the end of the account, came in between
        if has_second_factor(session, account.id):
            return CodeNeeded(begin_sign_in(session, account))
        token = create_session(
            session,
            account,
            attempt.user_agent,
            address=attempt.address,
            days=kernel.settings.session_days,
        )
    _log.info("signed_in", account_id=account.id)
    return token


def checked_email(email: str) -> str:
    """The address in lower case. Raises InvalidInput when it cannot be one."""
    email = email.strip().lower()
    if len(email) > _MAX_EMAIL or not _EMAIL.fullmatch(email):
        raise InvalidInput("That is not an e-mail address.", hint="It looks like ada@example.org.")
    return email


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if len(name) > _MAX_NAME:
        raise InvalidInput(f"The name is longer than {_MAX_NAME} characters.")
    return name


def _checked_timezone(name: str) -> str:
    name = name.strip() or "UTC"
    if name not in zoneinfo.available_timezones():
        raise InvalidInput(
            f"{name[:64]!r} is not a time zone.", hint="Time zones look like Europe/Paris."
        )
    return name
