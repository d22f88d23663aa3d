"""Passkeys (WebAuthn level 3): signing in with a device instead of the password and a code.

The device checks its owner (user verification is required), so a passkey is good alone. It is
bound to the server's name, which comes from the configuration and never from a request.
"""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import webauthn
from cryptography.exceptions import UnsupportedAlgorithm
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from api.accounts.sessions import SignedIn, create_session
from backread.crypto import hash_token, new_token
from backread.errors import Conflict, InvalidInput, LimitExceeded, NotAuthenticated, NotFound
from backread.kernel import Kernel
from backread.log import get_logger
from backread.settings import LOOPBACK_HOSTS, Settings
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Passkey, SignInChallenge
from backread.store.repositories import passkeys

MAX_NAME = 100
MOST_PASSKEYS = 30
CHALLENGE_LIFE = timedelta(minutes=5)
_SIGN_IN, _ADD = "passkey", "add_passkey"
# What the library raises for an answer that does not hold, or holds nonsense.
_NOT_HOLDING = (WebAuthnException, ValueError, LookupError, TypeError, UnsupportedAlgorithm)
_log = get_logger("api.accounts")


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """Whom passkeys of this server are made for: a host name, and the origin of its pages."""

    id: str
    origin: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What the browser's authenticator is asked, and the token its answer comes back with."""

    token: str
    options: dict[str, Any]


def relying_party(settings: Settings) -> RelyingParty:
    """WebAuthn knows names only, no addresses: on this machine passkeys work at `localhost`. The
    origin is spelled as browsers do: in lower case, without the default port."""
    parts = urlsplit(settings.origin)
    host = parts.hostname or ""
    if host in LOOPBACK_HOSTS:
        host = "localhost"
    is_usual = parts.port in {None, {"http": 80, "https": 443}[parts.scheme]}
    port = "" if is_usual else f":{parts.port}"
    return RelyingParty(host, f"{parts.scheme}://{host}{port}")


def ask_to_add(session: WriteSession, settings: Settings, signed_in: SignedIn) -> Asked:
    """Begins to add a passkey to the account. Raises LimitExceeded when it has too many."""
    known = passkeys.list_passkeys(session, signed_in.account_id)
    if len(known) >= MOST_PASSKEYS:
        raise LimitExceeded(f"You have {MOST_PASSKEYS} passkeys.", hint="Remove one first.")
    options = webauthn.generate_registration_options(
        rp_id=relying_party(settings).id,
        rp_name="Backread",
        user_id=signed_in.account_id.encode(),
        user_name=signed_in.email,
        user_display_name=signed_in.display_name or signed_in.email,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[
            PublicKeyCredentialDescriptor(id=each.credential_id, transports=_transports(each))
            for each in known
        ],
    )
    token = _keep(session, _ADD, signed_in.account_id, options.challenge)
    return Asked(token, json.loads(webauthn.options_to_json(options)))


def add_passkey(
    session: WriteSession,
    settings: Settings,
    signed_in: SignedIn,
    *,
    token: str,
    credential: dict[str, Any],
    name: str,
) -> str:
    """Stores the passkey that the authenticator made; returns its id.

    Raises NotFound when it was not asked for or too long ago, InvalidInput when the answer does
    not hold, Conflict when the passkey is known already.
    """
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME:
        raise InvalidInput(f"The passkey needs a name of at most {MAX_NAME} characters.")
    challenge = _taken(session, token, _ADD)
    if challenge is None or challenge.account_id != signed_in.account_id:
        raise NotFound("This request has ended.", hint="Add the passkey again.")
    party = relying_party(settings)
    try:
        made = webauthn.verify_registration_response(
            credential=credential,
            expected_challenge=base64url_to_bytes(challenge.challenge),
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    except _NOT_HOLDING as error:
        _log.warning("passkey_refused", account_id=signed_in.account_id, reason=str(error)[:200])
        raise InvalidInput(
            "The passkey could not be checked.", hint=f"Add it at {party.origin}."
        ) from error
    credential_hash = _credential_hash(made.credential_id)
    if passkeys.is_known(session, credential_hash):
        raise Conflict("This passkey is known already.")
    row = Passkey(
        account_id=signed_in.account_id,
        credential_hash=credential_hash,
        credential_id=made.credential_id,
        public_key=made.credential_public_key,
        sign_count=made.sign_count,
        transports=_named_transports(credential),
        name=name,
    )
    session.add(row)
    session.flush()
    _log.info("passkey_added", account_id=signed_in.account_id, passkey_id=row.id)
    return row.id


def remove_passkey(session: WriteSession, account_id: str, passkey_id: str) -> None:
    """Raises NotFound, also for another account's passkey."""
    if not passkeys.delete_passkey(session, account_id, passkey_id):
        raise NotFound("There is no such passkey.", hint="It was removed already.")
    _log.info("passkey_removed", account_id=account_id, passkey_id=passkey_id)


def ask_to_sign_in(session: WriteSession, settings: Settings) -> Asked:
    """Begins a sign-in. The person chooses among the passkeys that their device has for us."""
    options = webauthn.generate_authentication_options(
        rp_id=relying_party(settings).id,
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    token = _keep(session, _SIGN_IN, None, options.challenge)
    return Asked(token, json.loads(webauthn.options_to_json(options)))


def sign_in_with_passkey(
    kernel: Kernel, *, token: str, credential: dict[str, Any], address: str, user_agent: str
) -> str:
    """Starts a session; returns the token for its cookie. Raises NotAuthenticated when the answer
    does not hold, whatever is wrong with it."""
    with kernel.store.write() as session:
        challenge = _taken(session, token, _SIGN_IN)
    with kernel.store.read() as session:
        raw_id = credential.get("rawId")
        credential_hash = _credential_hash_of(raw_id) if isinstance(raw_id, str) else ""
        found = passkeys.find_passkey(session, credential_hash)
    if challenge is None or found is None:
        raise _refused()
    passkey, account = found
    party = relying_party(kernel.settings)
    try:
        answer = webauthn.verify_authentication_response(
            credential=credential,
            expected_challenge=base64url_to_bytes(challenge.challenge),
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except _NOT_HOLDING as error:
        _log.warning("passkey_failed", account_id=account.id, reason=str(error)[:200])
        raise _refused() from error
    if not _is_for(credential, account.id):
        raise _refused()
    with kernel.store.write() as session:
        is_first = passkeys.note_use(
            session,
            passkey.id,
            sign_count=answer.new_sign_count,
            since=passkey.sign_count,
            now=utcnow(),
        )
        if not is_first:
            raise _refused()
        days = kernel.settings.session_days
        cookie = create_session(session, account, user_agent, address=address, days=days)
    _log.info("signed_in", account_id=account.id, passkey_id=passkey.id)
    return cookie


def _keep(session: WriteSession, purpose: str, account_id: str | None, challenge: bytes) -> str:
    token, now = new_token(), utcnow()
    row = SignInChallenge(
        token_hash=hash_token(token),
        purpose=purpose,
        account_id=account_id,
        challenge=bytes_to_base64url(challenge),
        expires_at=now + CHALLENGE_LIFE,
    )
    passkeys.add_challenge(session, row, now=now)
    return token


def _taken(session: WriteSession, token: str, purpose: str) -> SignInChallenge | None:
    """The challenge, which nobody can take again."""
    token_hash = hash_token(token)
    found = passkeys.find_challenge(session, token_hash, purpose, now=utcnow())
    return found if found is not None and passkeys.take_challenge(session, token_hash) else None


def _is_for(credential: dict[str, Any], account_id: str) -> bool:
    """WebAuthn §7.2, step 6: a user handle that comes with the answer is the account's."""
    response = credential.get("response")
    handle = response.get("userHandle") if isinstance(response, dict) else None
    return not handle or handle == bytes_to_base64url(account_id.encode())


def _credential_hash_of(raw_id: str) -> str:
    try:
        return _credential_hash(base64url_to_bytes(raw_id))
    except ValueError:
        return ""


def _credential_hash(credential_id: bytes) -> str:
    """What credentials are found by: their ids may be longer than an index takes."""
    return hash_token(bytes_to_base64url(credential_id))


def _named_transports(credential: dict[str, Any]) -> list[str]:
    response = credential.get("response")
    named = response.get("transports") if isinstance(response, dict) else None
    known = {transport.value for transport in AuthenticatorTransport}
    given = named if isinstance(named, list) else []
    return [each for each in given if isinstance(each, str) and each in known]


def _transports(passkey: Passkey) -> list[AuthenticatorTransport]:
    return [AuthenticatorTransport(each) for each in passkey.transports]


def _refused() -> NotAuthenticated:
    return NotAuthenticated(
        "This passkey does not sign anybody in here.",
        hint="Use your password, or another passkey.",
    )
