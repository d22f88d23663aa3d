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
        Index(None, "account_id", "bucket_id", "superseded_by", "created_at"),
        Index(None, "account_id", "superseded_by", "created_at"),
        Index(None, "account_id", "dense_with"),
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
    beside_with: Mapped[str] = mapped_column(String(120), default="", server_default="")
    updated_by: Mapped[str | None] = mapped_column(String(512))  # client of the last edit
    # Where it was said, when whoever stored it told. Chats go; then these lead nowhere.
    conversation_id: Mapped[str | None] = mapped_column(String(26))
    message_id: Mapped[str | None] = mapped_column(String(26))
    # The memory that holds since `superseded_at` in place of this one. Its text may be stored
    # again, so `text_hash` is then no longer that of the text alone.
    superseded_by: Mapped[str | None] = mapped_column(String(26))
    superseded_at: Mapped[datetime | None]
    # How often it was said again or used, and when last: see `recall.memories.strength`.
    use_count: Mapped[int] = mapped_column(default=0, server_default="0")
    used_at: Mapped[datetime | None]


class Forgetting(Base):
    """One deletion of memories, or of a bucket with all that lay in it. Until `purge_at` it can be
    undone; then upkeep deletes the texts, and this row stays as the receipt."""

    __tablename__ = "forgettings"
    __table_args__ = (Index(None, "account_id", "forgotten_at"),)

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(16))  # memories | bucket
    client_id: Mapped[str | None] = mapped_column(String(512))  # who asked; None = the owner
    memory_count: Mapped[int]
    # Of a bucket: what it takes to make it again. The name goes with the purge.
    bucket_id: Mapped[int | None] = mapped_column(BigId)
    bucket_name: Mapped[str] = mapped_column(String(200), default="")
    bucket_created_at: Mapped[datetime | None]
    forgotten_at: Mapped[datetime] = mapped_column(default=utcnow)
    purge_at: Mapped[datetime] = mapped_column(index=True)
    undone_at: Mapped[datetime | None]
    purged_at: Mapped[datetime | None]


class ForgottenMemory(Base):
    """A memory that was deleted and can still be had back. Nothing searches here."""

    __tablename__ = "forgotten_memories"

    id: Mapped[str] = mapped_column(String(26), primary_key=True)  # the memory's own
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    forgetting_id: Mapped[str] = mapped_column(
        ForeignKey("forgettings.id", ondelete="CASCADE"), index=True
    )
    bucket_id: Mapped[int] = mapped_column(BigId)
    bucket_name: Mapped[str] = mapped_column(String(200))
    text: Mapped[str] = mapped_column(Text)
    client_id: Mapped[str | None] = mapped_column(String(512))
    updated_by: Mapped[str | None] = mapped_column(String(512))
    conversation_id: Mapped[str | None] = mapped_column(String(26))
    message_id: Mapped[str | None] = mapped_column(String(26))
    superseded_by: Mapped[str | None] = mapped_column(String(26))
    superseded_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


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
    state: Mapped[str] = mapped_column(String(16), default="open")  # open|accepted|dismissed|erased
    memory_id: Mapped[str | None] = mapped_column(String(26))  # what it was accepted as
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    decided_at: Mapped[datetime | None]
