from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class Account(Base):
    """A person who owns data. Canonical."""

    __tablename__ = "accounts"

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    email: Mapped[str] = mapped_column(String(254), unique=True)  # stored in lower case
    display_name: Mapped[str] = mapped_column(String(200), default="")
    password_hash: Mapped[str] = mapped_column(String(255))
    role: Mapped[str] = mapped_column(String(16), default="member")  # owner | member
    timezone: Mapped[str] = mapped_column(String(64), default="UTC")  # IANA name
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    disabled_at: Mapped[datetime | None]
    # When its removal was asked for. It is disabled from then on, and gone once all is erased.
    removed_at: Mapped[datetime | None]


class WebSession(Base):
    """A browser sign-in. The cookie holds the token, the row its hash."""

    __tablename__ = "web_sessions"

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    csrf_token: Mapped[str] = mapped_column(String(64))
    user_agent: Mapped[str] = mapped_column(String(300), default="")
    # Where it was signed in from, as an IPv4 /24 or IPv6 /48: enough to recognise, no more.
    network: Mapped[str] = mapped_column(String(48), default="", server_default="")
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    last_seen_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime]
