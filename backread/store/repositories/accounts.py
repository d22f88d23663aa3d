"""Queries of accounts and their browser sign-ins."""

from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, WebSession

OWNER = "owner"
MEMBER = "member"


def find_by_email(session: ReadSession, email: str) -> Account | None:
    """`email` in any case."""
    return session.scalar(select(Account).where(Account.email == email.strip().lower()))


def find_owner(session: ReadSession) -> Account | None:
    """The first owner: the person who set the server up."""
    return session.scalar(
        select(Account).where(Account.role == OWNER).order_by(Account.created_at, Account.id)
    )


def insert_account(session: WriteSession, account: Account) -> bool:
    """False when another transaction has just taken the address."""
    try:
        with session.begin_nested():
            session.add(account)
    except IntegrityError:
        return False
    return True


def lock_account(session: WriteSession, account_id: str) -> None:
    """Whoever asks next for the same account waits for this transaction."""
    session.execute(select(Account.id).where(Account.id == account_id).with_for_update())


def is_unchanged(session: WriteSession, seen: Account) -> bool:
    """Whether the account can still be signed in to, with the password that it was seen with.
    It stays like this until the transaction ends."""
    statement = select(Account.id).where(
        Account.id == seen.id,
        Account.password_hash == seen.password_hash,
        Account.disabled_at.is_(None),
    )
    return session.scalar(statement.with_for_update()) is not None


def replace_password_hash(session: WriteSession, seen: Account, password_hash: str) -> None:
    """Another hash of the same password; does nothing when the password was changed since."""
    session.execute(
        update(Account)
        .where(Account.id == seen.id, Account.password_hash == seen.password_hash)
        .values(password_hash=password_hash)
        .execution_options(synchronize_session=False)
    )


def has_sign_in(session: ReadSession) -> bool:
    """Whether anybody can sign in yet. An owner made by the command line has no password."""
    statement = select(func.count()).select_from(Account).where(Account.password_hash != "")
    return bool(session.scalar(statement))


def find_sign_in(
    session: ReadSession, token_hash: str, *, now: datetime
) -> tuple[WebSession, Account] | None:
    """The sign-in that a cookie's token belongs to, unless it ended or its account did."""
    row = session.execute(
        select(WebSession, Account)
        .join(Account, Account.id == WebSession.account_id)
        .where(
            WebSession.token_hash == token_hash,
            WebSession.expires_at > now,
            Account.disabled_at.is_(None),
        )
    ).first()
    return (row[0], row[1]) if row else None


def extend_sign_in(
    session: WriteSession, session_id: str, *, now: datetime, expires_at: datetime
) -> None:
    session.execute(
        update(WebSession)
        .where(WebSession.id == session_id)
        .values(last_seen_at=now, expires_at=expires_at)
    )


def delete_sign_in(session: WriteSession, token_hash: str) -> None:
    session.execute(delete(WebSession).where(WebSession.token_hash == token_hash))


def delete_ended_sign_ins(session: WriteSession, *, now: datetime) -> None:
    session.execute(delete(WebSession).where(WebSession.expires_at <= now))


def delete_sign_ins_of(session: WriteSession, account_id: str, *, except_id: str = "") -> None:
    """Ends the account's browser sign-ins, all but the one named."""
    session.execute(
        delete(WebSession).where(WebSession.account_id == account_id, WebSession.id != except_id)
    )
