from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class ExportLink(Base):
    """A short-lived address that hands out one conversation without a sign-in. The token itself
    is never stored. Gone with its conversation."""

    __tablename__ = "export_links"

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    conversation_id: Mapped[str] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), index=True
    )
    client_id: Mapped[str | None] = mapped_column(String(512))  # who asked for it
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)  # SHA-256, hex
    downloads: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime] = mapped_column(index=True)
