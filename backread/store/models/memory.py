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


class SuggestedMemory(Base):
    """What a platform remembers about the person, waiting for their word. Canonical: a person's
    decision must outlive every further import, so a suggestion is never made twice."""

    __tablename__ = "suggested_memories"
    __table_args__ = (
        UniqueConstraint("account_id", "platform", "text_hash"),
        Index(None, "account_id", "state", "platform"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    platform: Mapped[str] = mapped_column(String(32))
    text: Mapped[str] = mapped_column(Text)  # as the platform has it
    text_hash: Mapped[str] = mapped_column(String(64))
    source: Mapped[str] = mapped_column(Text, default="")  # in words: where it stood
    project_external_id: Mapped[str] = mapped_column(String(512), default="")
    # Where it was said; None when it came in a file of its own.
    conversation_id: Mapped[str | None] = mapped_column(String(26))
    message_id: Mapped[str | None] = mapped_column(String(26))
    occurred_at: Mapped[datetime | None]  # the platform's own time
    import_id: Mapped[str | None] = mapped_column(String(26))
    state: Mapped[str] = mapped_column(String(16), default="open")  # open | accepted | dismissed
    memory_id: Mapped[str | None] = mapped_column(String(26))  # what it was accepted as
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    decided_at: Mapped[datetime | None]
