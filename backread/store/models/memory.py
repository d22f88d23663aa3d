from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow
from backread.store.models.conversation import BigId


class Bucket(Base):
    """A folder of memories. Canonical. Ids are numbers, as the reference contract has them."""

    __tablename__ = "buckets"
    __table_args__ = (UniqueConstraint("account_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    is_default: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Memory(Base):
    """A statement that a person or a client chose to keep. Canonical."""

    __tablename__ = "memories"
    __table_args__ = (
        UniqueConstraint("account_id", "bucket_id", "text_hash"),
        Index(None, "account_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    bucket_id: Mapped[int] = mapped_column(ForeignKey("buckets.id", ondelete="CASCADE"), index=True)
    text: Mapped[str] = mapped_column(Text)
    text_hash: Mapped[str] = mapped_column(String(64))  # of the text folded for comparison
    client_id: Mapped[str | None] = mapped_column(String(512))  # who stored it; None = its owner
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)
    # Sequence number in the vector index, which wants integers. Never used twice.
    point_id: Mapped[int] = mapped_column(BigId, unique=True)
    dense_with: Mapped[str] = mapped_column(String(120), default="")
