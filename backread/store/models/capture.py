from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class Capture(Base):
    """The raw form of one conversation as it came in. Canonical: everything else about the
    conversation can be built again from its captures. Never changed; superseded ones stay."""

    __tablename__ = "captures"
    __table_args__ = (
        UniqueConstraint("account_id", "platform", "external_id", "content_hash"),
        Index(None, "conversation_id"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    platform: Mapped[str] = mapped_column(String(32))
    external_id: Mapped[str] = mapped_column(String(512))
    # Fixed at first sight of the chat; see backread/identity.py.
    conversation_id: Mapped[str] = mapped_column(String(26))
    content_hash: Mapped[str] = mapped_column(String(64))  # SHA-256 of the raw bytes
    importer: Mapped[str] = mapped_column(String(32))  # slug of the format that reads `body`
    codec: Mapped[str] = mapped_column(String(8), default="zstd")
    body: Mapped[bytes] = mapped_column(LargeBinary)
    raw_bytes: Mapped[int]
    import_id: Mapped[str | None] = mapped_column(String(26))
    captured_at: Mapped[datetime] = mapped_column(default=utcnow)


class Tombstone(Base):
    """A conversation that its owner deleted: a later import skips it. Canonical."""

    __tablename__ = "tombstones"

    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True
    )
    platform: Mapped[str] = mapped_column(String(32), primary_key=True)
    external_id: Mapped[str] = mapped_column(String(512), primary_key=True)
    deleted_at: Mapped[datetime] = mapped_column(default=utcnow)
