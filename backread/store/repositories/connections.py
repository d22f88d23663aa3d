"""What an account's owner sees of clients and browsers that may act for the account."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select

from backread.domain import Principal
from backread.errors import NotFound
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import OAuthClient, OAuthGrant, Passage, WebSession
from backread.store.repositories import oauth


@dataclass(frozen=True, slots=True)
class Connection:
    """A grant that holds, with the client it was given to."""

    grant: OAuthGrant
    client: OAuthClient


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """Passages in all, and how many of them have a vector."""

    passages: int
    dense: int

    @property
    def is_complete(self) -> bool:
        return self.dense >= self.passages


def list_connections(session: ReadSession, principal: Principal) -> list[Connection]:
    """Grants that were not revoked, last used first."""
    last_used = func.coalesce(OAuthGrant.last_used_at, OAuthGrant.created_at)
    rows = session.execute(
        select(OAuthGrant, OAuthClient)
        .join(OAuthClient, OAuthClient.id == OAuthGrant.client_id)
        .where(OAuthGrant.account_id == principal.account_id, OAuthGrant.revoked_at.is_(None))
        .order_by(last_used.desc(), OAuthGrant.id)
    )
    return [Connection(grant, client) for grant, client in rows]


def end_connection(
    session: WriteSession, principal: Principal, grant_id: str, *, now: datetime
) -> None:
    """Revokes the grant and all its tokens. Raises NotFound, also for another account's grant."""
    grant = oauth.find_grant_for_update(session, grant_id)
    if grant is None or grant.account_id != principal.account_id:
        raise NotFound("There is no such connection.")
    oauth.revoke_grant(session, grant_id, now=now)


def list_sign_ins(session: ReadSession, principal: Principal, *, now: datetime) -> list[WebSession]:
    """Browsers that are signed in, last seen first."""
    return list(
        session.scalars(
            select(WebSession)
            .where(WebSession.account_id == principal.account_id, WebSession.expires_at > now)
            .order_by(WebSession.last_seen_at.desc(), WebSession.id)
        )
    )


def end_sign_in(session: WriteSession, principal: Principal, session_id: str) -> None:
    """Signs that browser out. Another account's, or an unknown one, is left alone."""
    session.execute(
        delete(WebSession).where(
            WebSession.account_id == principal.account_id, WebSession.id == session_id
        )
    )


def index_progress(session: ReadSession, principal: Principal) -> IndexProgress:
    """How far the background indexing of the account has come."""
    passages, dense = session.execute(
        select(func.count(), func.count(func.nullif(Passage.dense_with, ""))).where(
            Passage.account_id == principal.account_id
        )
    ).one()
    return IndexProgress(passages, dense)
