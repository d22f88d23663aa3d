"""Queries of passkeys, and of sign-ins that wait for their second half."""

from datetime import datetime

from sqlalchemy import delete, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, Passkey, SignInChallenge


def list_passkeys(session: ReadSession, account_id: str) -> list[Passkey]:
    """Oldest first."""
    return list(
        session.scalars(
            select(Passkey).where(Passkey.account_id == account_id).order_by(Passkey.id)
        )
    )


def find_passkey(session: ReadSession, credential_hash: str) -> tuple[Passkey, Account] | None:
    """The passkey, and the account that it signs in to unless that is disabled."""
    row = session.execute(
        select(Passkey, Account)
        .join(Account, Account.id == Passkey.account_id)
        .where(Passkey.credential_hash == credential_hash, Account.disabled_at.is_(None))
    ).first()
    return (row[0], row[1]) if row else None


def is_known(session: ReadSession, credential_hash: str) -> bool:
    """Whether any account has the passkey, disabled or not."""
    statement = select(Passkey.id).where(Passkey.credential_hash == credential_hash)
    return session.scalar(statement) is not None


def note_use(
    session: WriteSession, passkey_id: str, *, sign_count: int, since: int, now: datetime
) -> bool:
    """False when the passkey was used by somebody else since its count was read."""
    result = session.execute(
        update(Passkey)
        .where(Passkey.id == passkey_id, Passkey.sign_count == since)
        .values(sign_count=sign_count, last_used_at=now)
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]


def delete_passkey(session: WriteSession, account_id: str, passkey_id: str) -> bool:
    """Whether the account had such a passkey."""
    result = session.execute(
        delete(Passkey).where(Passkey.account_id == account_id, Passkey.id == passkey_id)
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]


def delete_passkeys(session: WriteSession, account_id: str) -> None:
    session.execute(delete(Passkey).where(Passkey.account_id == account_id))


def add_challenge(session: WriteSession, challenge: SignInChallenge, *, now: datetime) -> None:
    """Stores it, and forgets those that have ended."""
    session.execute(delete(SignInChallenge).where(SignInChallenge.expires_at <= now))
    session.add(challenge)
    session.flush()


def find_challenge(
    session: ReadSession, token_hash: str, purpose: str, *, now: datetime
) -> SignInChallenge | None:
    return session.scalar(
        select(SignInChallenge).where(
            SignInChallenge.token_hash == token_hash,
            SignInChallenge.purpose == purpose,
            SignInChallenge.expires_at > now,
        )
    )


def count_try(session: WriteSession, token_hash: str, *, most: int) -> bool:
    """Counts a try. False when there is none left, or no such challenge any more."""
    result = session.execute(
        update(SignInChallenge)
        .where(SignInChallenge.token_hash == token_hash, SignInChallenge.tries < most)
        .values(tries=SignInChallenge.tries + 1)
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]


def take_challenge(session: WriteSession, token_hash: str) -> bool:
    """Ends the challenge. False when it had ended already: of two requests, one gets True."""
    result = session.execute(
        delete(SignInChallenge).where(SignInChallenge.token_hash == token_hash)
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]


def delete_challenges_of(session: WriteSession, account_id: str) -> None:
    session.execute(delete(SignInChallenge).where(SignInChallenge.account_id == account_id))


def delete_ended_challenges(session: WriteSession, *, now: datetime) -> None:
    session.execute(delete(SignInChallenge).where(SignInChallenge.expires_at <= now))
