"""Queries of OAuth clients, grants, codes and tokens.

Functions that end in `_for_update` lock the row on databases that lock rows; SQLite's write
transactions are serial anyway. They are what makes a code single-use and a refresh serial.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, exists, func, or_, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import (
    Account,
    OAuthClient,
    OAuthCode,
    OAuthConsent,
    OAuthGrant,
    OAuthToken,
)

ACCESS = "access"
REFRESH = "refresh"


@dataclass(frozen=True, slots=True)
class LiveToken:
    """What an access token that is good now is good for, and whose it is."""

    grant_id: str
    resource: str
    scopes: list[str]
    last_used_at: datetime | None
    client_id: str
    account_id: str
    timezone: str


def find_client(session: ReadSession, client_id: str) -> OAuthClient | None:
    return session.get(OAuthClient, client_id)


def find_client_by_fingerprint(session: ReadSession, fingerprint: str) -> OAuthClient | None:
    return session.scalar(select(OAuthClient).where(OAuthClient.fingerprint == fingerprint))


def _in_use() -> object:
    return exists().where(OAuthGrant.client_id == OAuthClient.id)


def count_unused_clients(session: ReadSession) -> int:
    """Registrations that nobody has ever allowed anything."""
    statement = select(func.count()).select_from(OAuthClient).where(~_in_use())  # type: ignore[operator]
    return session.scalar(statement) or 0


def delete_unused_clients(session: WriteSession, *, not_seen_since: datetime) -> int:
    """Forgets registrations without a grant that were not repeated since. Returns how many."""
    seen = func.coalesce(OAuthClient.last_used_at, OAuthClient.created_at)
    result = session.execute(
        delete(OAuthClient).where(seen < not_seen_since, ~_in_use())  # type: ignore[operator]
    )
    return int(result.rowcount)  # type: ignore[attr-defined]


def find_consent_for_update(session: WriteSession, consent_id: str) -> OAuthConsent | None:
    return session.scalar(
        select(OAuthConsent).where(OAuthConsent.id == consent_id).with_for_update()
    )


def find_code_for_update(session: WriteSession, code_hash: str) -> OAuthCode | None:
    return session.scalar(
        select(OAuthCode).where(OAuthCode.code_hash == code_hash).with_for_update()
    )


def find_token(session: ReadSession, token_hash: str, kind: str) -> OAuthToken | None:
    return session.scalar(
        select(OAuthToken).where(OAuthToken.token_hash == token_hash, OAuthToken.kind == kind)
    )


def find_any_token(session: ReadSession, token_hash: str) -> OAuthToken | None:
    return session.get(OAuthToken, token_hash)


def find_grant_for_update(session: WriteSession, grant_id: str) -> OAuthGrant | None:
    return session.scalar(select(OAuthGrant).where(OAuthGrant.id == grant_id).with_for_update())


def find_live_access_token(
    session: ReadSession, token_hash: str, *, now: datetime
) -> LiveToken | None:
    """The access token, unless it expired, its grant was revoked or its account disabled."""
    # Asked at every call of a client, so single values instead of whole rows.
    row = session.execute(
        select(
            OAuthGrant.id,
            OAuthGrant.resource,
            OAuthGrant.scopes,
            OAuthGrant.last_used_at,
            OAuthGrant.client_id,
            Account.id,
            Account.timezone,
        )
        .join(OAuthToken, OAuthToken.grant_id == OAuthGrant.id)
        .join(Account, Account.id == OAuthGrant.account_id)
        .where(
            OAuthToken.token_hash == token_hash,
            OAuthToken.kind == ACCESS,
            OAuthToken.expires_at > now,
            OAuthGrant.revoked_at.is_(None),
            Account.disabled_at.is_(None),
        )
    ).first()
    return LiveToken(*row) if row else None


def account_is_usable(session: ReadSession, account_id: str) -> bool:
    statement = select(Account.id).where(Account.id == account_id, Account.disabled_at.is_(None))
    return session.scalar(statement) is not None


def revoke_grant(session: WriteSession, grant_id: str, *, now: datetime) -> None:
    """Ends the grant and with it all its tokens and codes, at once."""
    session.execute(
        update(OAuthGrant)
        .where(OAuthGrant.id == grant_id, OAuthGrant.revoked_at.is_(None))
        .values(revoked_at=now)
    )
    session.execute(delete(OAuthToken).where(OAuthToken.grant_id == grant_id))


def date_grants(session: WriteSession, client_id: str, *, created_at: datetime) -> None:
    """Gives the client's grants another beginning, and with it another end."""
    session.execute(
        update(OAuthGrant).where(OAuthGrant.client_id == client_id).values(created_at=created_at)
    )


def delete_token(session: WriteSession, token_hash: str) -> None:
    session.execute(delete(OAuthToken).where(OAuthToken.token_hash == token_hash))


def mark_used(session: WriteSession, grant_id: str, *, now: datetime) -> None:
    """Notes the last use of a grant and its client, for the list of connections."""
    session.execute(update(OAuthGrant).where(OAuthGrant.id == grant_id).values(last_used_at=now))
    client_id = select(OAuthGrant.client_id).where(OAuthGrant.id == grant_id).scalar_subquery()
    session.execute(update(OAuthClient).where(OAuthClient.id == client_id).values(last_used_at=now))


def delete_ended(
    session: WriteSession, *, now: datetime, superseded_before: datetime, granted_before: datetime
) -> None:
    """Forgets what can never be used again: old consents and codes, expired tokens, and grants
    past their longest life. Superseded refresh tokens stay as long as their replay must be
    recognised, which is their own life."""
    session.execute(delete(OAuthConsent).where(OAuthConsent.expires_at < superseded_before))
    session.execute(delete(OAuthCode).where(OAuthCode.expires_at < superseded_before))
    session.execute(delete(OAuthToken).where(OAuthToken.expires_at < now))
    session.execute(
        delete(OAuthGrant).where(
            or_(OAuthGrant.created_at < granted_before, OAuthGrant.revoked_at < granted_before)
        )
    )
