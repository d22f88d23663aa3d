from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class OAuthClient(Base):
    """A registered client (RFC 7591). `metadata_` echoes what it registered with."""

    __tablename__ = "oauth_clients"

    id: Mapped[str] = mapped_column(String(512), primary_key=True)
    secret_hash: Mapped[str] = mapped_column(String(64), default="")
    # Hash of the registered metadata: registering the same again gives the same client.
    fingerprint: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(Text, default="")
    metadata_: Mapped[dict[str, Any]] = mapped_column("metadata", default=dict)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    last_used_at: Mapped[datetime | None]


class OAuthConsent(Base):
    """An authorization request that waits for its person to answer: what the consent page
    shows and what the code will be bound to. Ends after ten minutes or one answer."""

    __tablename__ = "oauth_consents"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    session_id: Mapped[str] = mapped_column(String(26))
    client_id: Mapped[str] = mapped_column(ForeignKey("oauth_clients.id", ondelete="CASCADE"))
    request: Mapped[dict[str, Any]] = mapped_column(default=dict)
    expires_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]


class OAuthGrant(Base):
    """What one account allowed one client. Revoking it ends all its tokens. Canonical."""

    __tablename__ = "oauth_grants"
    __table_args__ = (Index(None, "account_id", "client_id"),)

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    client_id: Mapped[str] = mapped_column(
        ForeignKey("oauth_clients.id", ondelete="CASCADE"), index=True
    )
    scopes: Mapped[list[Any]] = mapped_column(default=list)
    resource: Mapped[str] = mapped_column(Text)  # RFC 8707: the one resource it is good for
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class OAuthCode(Base):
    """An authorization code: single use, 60 seconds."""

    __tablename__ = "oauth_codes"

    code_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    grant_id: Mapped[str] = mapped_column(ForeignKey("oauth_grants.id", ondelete="CASCADE"))
    client_id: Mapped[str] = mapped_column(String(512))
    redirect_uri: Mapped[str] = mapped_column(Text)
    code_challenge: Mapped[str] = mapped_column(String(128))
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class OAuthToken(Base):
    """An access or refresh token of a grant, by hash."""

    __tablename__ = "oauth_tokens"
    __table_args__ = (Index(None, "grant_id", "kind"),)

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    grant_id: Mapped[str] = mapped_column(ForeignKey("oauth_grants.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(8))  # access | refresh
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime]
    superseded_at: Mapped[datetime | None]  # refresh: when it was rotated
