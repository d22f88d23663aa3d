"""Queries of everybody who has an account here, and of invites. For owners."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, exists, func, select

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, AuthenticatorApp, Conversation, Invite, WebSession
from backread.store.repositories.accounts import OWNER


@dataclass(frozen=True, slots=True)
class Person:
    """An account as owners see it: who, and how much, never what."""

    account: Account
    last_seen_at: datetime | None
    conversations: int
    has_app: bool

    @property
    def state(self) -> str:
        """active, disabled or removed (being erased)."""
        if self.account.removed_at is not None:
            return "removed"
        return "disabled" if self.account.disabled_at is not None else "active"


def list_people(session: ReadSession) -> list[Person]:
    """All accounts, oldest first."""
    seen = (
        select(func.max(WebSession.last_seen_at))
        .where(WebSession.account_id == Account.id)
        .scalar_subquery()
    )
    kept = (
        select(func.count())
        .select_from(Conversation)
        .where(Conversation.account_id == Account.id)
        .scalar_subquery()
    )
    has_app = exists().where(
        AuthenticatorApp.account_id == Account.id, AuthenticatorApp.confirmed_at.is_not(None)
    )
    rows = session.execute(
        select(Account, seen, kept, has_app).order_by(Account.created_at, Account.id)
    )
    return [Person(account, last, count, bool(app)) for account, last, count, app in rows]


def lock_owners(session: WriteSession) -> list[Account]:
    """The owners who can sign in. Whoever asks next waits for this transaction, so that two
    owners cannot remove each other at the same moment."""
    return list(
        session.scalars(
            select(Account)
            .where(
                Account.role == OWNER,
                Account.disabled_at.is_(None),
                Account.password_hash != "",
            )
            .order_by(Account.id)
            .with_for_update()
        )
    )


def list_invites(session: ReadSession, *, now: datetime) -> list[Invite]:
    """Invites that still can be used, newest first."""
    return list(
        session.scalars(select(Invite).where(Invite.expires_at > now).order_by(Invite.id.desc()))
    )


def find_invite(session: ReadSession, token_hash: str, *, now: datetime) -> Invite | None:
    """The invite, unless it was used, was revoked or has expired."""
    return session.scalar(
        select(Invite).where(Invite.token_hash == token_hash, Invite.expires_at > now)
    )


def take_invite(session: WriteSession, token_hash: str, *, now: datetime) -> bool:
    """Uses the invite up. False when there is none to use: of two requests, one gets True."""
    result = session.execute(
        delete(Invite).where(Invite.token_hash == token_hash, Invite.expires_at > now)
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]


def delete_invite(session: WriteSession, invite_id: str) -> bool:
    """Whether there was such an invite."""
    result = session.execute(delete(Invite).where(Invite.id == invite_id))
    return bool(result.rowcount)  # type: ignore[attr-defined]


def delete_invites_by(session: WriteSession, account_id: str) -> None:
    session.execute(delete(Invite).where(Invite.invited_by == account_id))


def delete_ended_invites(session: WriteSession, *, now: datetime) -> None:
    session.execute(delete(Invite).where(Invite.expires_at <= now))
