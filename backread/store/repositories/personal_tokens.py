"""Queries of the tokens that people made for scripts."""

from datetime import datetime

from sqlalchemy import delete, func, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, PersonalToken


def list_tokens(session: ReadSession, account_id: str) -> list[PersonalToken]:
    """Newest first, those that have expired among them."""
    return list(
        session.scalars(
            select(PersonalToken)
            .where(PersonalToken.account_id == account_id)
            .order_by(PersonalToken.id.desc())
        )
    )


def count_tokens(session: ReadSession, account_id: str) -> int:
    statement = select(func.count()).where(PersonalToken.account_id == account_id)
    return session.scalar(statement) or 0


def find_live_token(
    session: ReadSession, token_hash: str, *, now: datetime
) -> tuple[PersonalToken, Account] | None:
    """The token with its account, unless it expired or the account is disabled."""
    row = session.execute(
        select(PersonalToken, Account)
        .join(Account, Account.id == PersonalToken.account_id)
        .where(
            PersonalToken.token_hash == token_hash,
            PersonalToken.expires_at.is_(None) | (PersonalToken.expires_at > now),
            Account.disabled_at.is_(None),
        )
    ).first()
    return (row[0], row[1]) if row else None


def mark_used(session: WriteSession, token_id: str, *, now: datetime) -> None:
    session.execute(
        update(PersonalToken).where(PersonalToken.id == token_id).values(last_used_at=now)
    )


def delete_token(session: WriteSession, account_id: str, token_id: str) -> bool:
    """Whether the account had such a token."""
    result = session.execute(
        delete(PersonalToken).where(
            PersonalToken.account_id == account_id, PersonalToken.id == token_id
        )
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]


def delete_expired_tokens(session: WriteSession, *, expired_before: datetime) -> None:
    """Those without an end stay."""
    session.execute(delete(PersonalToken).where(PersonalToken.expires_at <= expired_before))
