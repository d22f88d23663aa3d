"""The second factor: codes of an authenticator app, and recovery codes in its place.

An app's code is good for its own 30 seconds and one step around them (RFC 6238 §5.2), and once.
Recovery codes have 80 random bits each, so a plain hash keeps them, and work once, too.
"""

import base64
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pyotp
import segno

from api.accounts.limits import SignInLimits
from api.accounts.server_key import server_box
from api.accounts.sessions import create_session
from backread.crypto import hash_token, new_token, same_secret
from backread.errors import Conflict, NotAuthenticated, NotFound, Unavailable
from backread.kernel import Kernel
from backread.log import get_logger
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, SignInChallenge
from backread.store.repositories import accounts, passkeys, second_factors

ISSUER = "Backread"
STEP_SECONDS = 30
STEPS_AROUND = 1
RECOVERY_CODES = 10
SIGN_IN_LIFE = timedelta(minutes=10)
TRIES_PER_SIGN_IN = 5
_RECOVERY_BYTES = 10
_PURPOSE = "code"
_log = get_logger("api.accounts")


@dataclass(frozen=True, slots=True)
class AppSetUp:
    """What an authenticator app needs to know, as text and as a QR code in SVG."""

    secret: str
    address: str

    def qr_code(self) -> str:
        """An SVG image in a data address, drawn here: the secret goes to nobody else."""
        code = segno.make(self.address, error="m")
        return code.svg_data_uri(scale=5, border=2, light="#fff", encode_minimal=False)


def has_second_factor(session: ReadSession, account_id: str) -> bool:
    """Whether sign-in with the password asks for a code."""
    return second_factors.find_confirmed_app(session, account_id) is not None


def begin_set_up(session: WriteSession, settings: Settings, account_id: str) -> None:
    """Makes a secret for an app. Nothing is asked for at sign-in until `finish_set_up`. Raises
    Conflict when there is an app already."""
    accounts.lock_account(session, account_id)
    if has_second_factor(session, account_id):
        raise Conflict("There is an authenticator app already.", hint="Turn it off first.")
    sealed = server_box(settings).seal(pyotp.random_base32(), purpose=_sealed_for(account_id))
    second_factors.put_app(session, account_id, sealed)


def pending_set_up(session: ReadSession, settings: Settings, account: Account) -> AppSetUp:
    """The app that waits for its first code. Raises NotFound when none does: a secret in use is
    never shown again."""
    app = second_factors.find_app(session, account.id)
    if app is None or app.confirmed_at is not None:
        raise NotFound("No authenticator app is being set up.", hint="Begin again.")
    secret = _opened(settings, account.id, app.sealed_secret)
    address = pyotp.TOTP(secret).provisioning_uri(name=account.email, issuer_name=ISSUER)
    return AppSetUp(secret, address)


def finish_set_up(
    session: WriteSession,
    settings: Settings,
    limits: SignInLimits,
    account_id: str,
    code: str,
    *,
    keep_session_id: str,
) -> list[str]:
    """Turns the app on, if its code is right, and returns the recovery codes, which are never
    shown again. Other browsers, which signed in without a code, are signed out.

    Raises NotAuthenticated for a wrong code, RateLimited, and NotFound when no app waits.
    """
    accounts.lock_account(session, account_id)
    app = second_factors.find_app(session, account_id)
    if app is None or app.confirmed_at is not None:
        raise NotFound("No authenticator app is being set up.", hint="Begin again.")
    limits.take_code(account_id)
    if not _use_app_code(session, settings, account_id, code):
        raise _wrong_code()
    second_factors.confirm_app(session, account_id, now=utcnow())
    accounts.delete_sign_ins_of(session, account_id, except_id=keep_session_id)
    _log.info("second_factor_on", account_id=account_id)
    return _new_recovery_codes(session, account_id)


def renew_recovery_codes(session: WriteSession, account_id: str) -> list[str]:
    """New ones; the old ones end. Raises NotFound when there is no app they could stand in for."""
    accounts.lock_account(session, account_id)
    if not has_second_factor(session, account_id):
        raise NotFound("There is no authenticator app.", hint="Set one up first.")
    return _new_recovery_codes(session, account_id)


def turn_off(session: WriteSession, account_id: str) -> None:
    """Sign-in with the password asks for no code any more; recovery codes end."""
    second_factors.delete_app(session, account_id)
    _log.info("second_factor_off", account_id=account_id)


def forget_factors(session: WriteSession, account_id: str) -> None:
    """For whoever lost everything: takes app, recovery codes and passkeys away, and signs all
    browsers out. The password stays."""
    turn_off(session, account_id)
    passkeys.delete_passkeys(session, account_id)
    accounts.delete_sign_ins_of(session, account_id)


def use_code(
    session: WriteSession, settings: Settings, limits: SignInLimits, account_id: str, code: str
) -> None:
    """Uses a code up: six digits of the app, or a recovery code. Raises NotAuthenticated when it
    is wrong or was used before, and RateLimited after too many tries of the app's."""
    plain = "".join(character for character in code if character.isalnum())
    if plain.isdigit():
        limits.take_code(account_id)
        is_right = _use_app_code(session, settings, account_id, plain)
    else:
        is_right = second_factors.use_recovery_code(session, account_id, _recovery_hash(plain))
        if is_right:
            _log.info("recovery_code_used", account_id=account_id)
    if not is_right:
        raise _wrong_code()


def begin_sign_in(session: WriteSession, account: Account) -> str:
    """Keeps a sign-in whose password was right until its code comes; returns the token that the
    browser goes on with. It signs nobody in by itself."""
    token, now = new_token(), utcnow()
    challenge = SignInChallenge(
        token_hash=hash_token(token),
        purpose=_PURPOSE,
        account_id=account.id,
        expires_at=now + SIGN_IN_LIFE,
    )
    passkeys.add_challenge(session, challenge, now=now)
    return token


def is_waiting(session: ReadSession, token: str) -> bool:
    """Whether a sign-in waits for its code under this token."""
    found = passkeys.find_challenge(session, hash_token(token), _PURPOSE, now=utcnow())
    return found is not None and found.tries < TRIES_PER_SIGN_IN


def finish_sign_in(
    kernel: Kernel,
    limits: SignInLimits,
    token: str,
    code: str,
    *,
    address: str,
    user_agent: str,
) -> str:
    """Signs in, if the code is right; returns the token for the session's cookie.

    Raises NotAuthenticated for a wrong code, RateLimited, and NotFound when the sign-in has ended
    and has to begin with the password again. A wrong code counts, also against the sign-in.
    """
    limits.take(address)
    token_hash = hash_token(token)
    with kernel.store.write() as session:
        found = passkeys.find_challenge(session, token_hash, _PURPOSE, now=utcnow())
        if not passkeys.count_try(session, token_hash, most=TRIES_PER_SIGN_IN):
            found = None
    account = _usable_account(kernel, found.account_id) if found is not None else None
    if account is None:
        raise NotFound("This sign-in has ended.", hint="Begin again with your password.")
    try:
        with kernel.store.write() as session:
            use_code(session, kernel.settings, limits, account.id, code)
            if not passkeys.take_challenge(session, token_hash):
                raise NotFound("This sign-in has ended.", hint="Begin again with your password.")
            days = kernel.settings.session_days
            cookie = create_session(session, account, user_agent, address=address, days=days)
    except NotAuthenticated:
        _log.warning("second_factor_failed", account_id=account.id)
        raise
    _log.info("signed_in", account_id=account.id, second_factor=True)
    return cookie


def _usable_account(kernel: Kernel, account_id: str | None) -> Account | None:
    with kernel.store.read() as session:
        account = session.get(Account, account_id) if account_id else None
    return account if account is not None and account.disabled_at is None else None


def _use_app_code(session: WriteSession, settings: Settings, account_id: str, code: str) -> bool:
    app = second_factors.find_app(session, account_id)
    if app is None:
        return False
    totp = pyotp.TOTP(_opened(settings, account_id, app.sealed_secret), interval=STEP_SECONDS)
    now = int(clock()) // STEP_SECONDS
    steps = range(now - STEPS_AROUND, now + STEPS_AROUND + 1)
    given = "".join(character for character in code if character.isdigit())
    matching = [step for step in steps if same_secret(totp.generate_otp(step), given)]
    return any(second_factors.use_step(session, account_id, step) for step in matching)


# Seconds since 1970, which app and server must agree on.
clock: Callable[[], float] = time.time


def _opened(settings: Settings, account_id: str, sealed: str) -> str:
    secret = server_box(settings).open(sealed, purpose=_sealed_for(account_id))
    if secret is None:
        raise Unavailable(
            "The authenticator app's secret cannot be read: the server's key is another one.",
            hint="Put secret.key back from a backup, or run `backread user reset-sign-in EMAIL`.",
        )
    return secret


def _sealed_for(account_id: str) -> str:
    return f"authenticator app of {account_id}"


def _new_recovery_codes(session: WriteSession, account_id: str) -> list[str]:
    codes = [
        base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
        for _ in range(RECOVERY_CODES)
    ]
    hashes = [_recovery_hash(code) for code in codes]
    second_factors.replace_recovery_codes(session, account_id, hashes)
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]


def _recovery_hash(code: str) -> str:
    return hash_token(code.lower())


def _wrong_code() -> NotAuthenticated:
    return NotAuthenticated(
        "The code is wrong, or was used already.",
        hint="Take the newest code of your app. If none works, check the clock of your phone.",
    )
