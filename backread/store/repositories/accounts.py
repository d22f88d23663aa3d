"""Queries of accounts and their browser sign-ins."""

from datetime import datetime

from sqlalchemy import delete, func, select, update

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
