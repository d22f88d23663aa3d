from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backread.store.base import Base, utcnow

# SQLite only auto-increments INTEGER; PostgreSQL needs 64 bits.
BigId = BigInteger().with_variant(Integer, "sqlite")


class Conversation(Base):
    """One chat. Derived from its captures."""

    __tablename__ = "conversations"
    __table_args__ = (
        UniqueConstraint("account_id", "platform", "external_id"),
        Index(None, "account_id", "last_message_at"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    platform: Mapped[str] = mapped_column(String(32))
    external_id: Mapped[str] = mapped_column(String(512))
    capture_id: Mapped[str] = mapped_column(String(26))  # newest capture it was built from
    parser_version: Mapped[int]
    title: Mapped[str] = mapped_column(Text)
    # The platform's own times; None when the export has none. Never the import's time.
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    # First and last dated message; what time filters and lists use. None when no time is known.
    first_message_at: Mapped[datetime | None]
    last_message_at: Mapped[datetime | None]
    url: Mapped[str] = mapped_column(Text, default="")  # in the original platform
    model: Mapped[str] = mapped_column(String(200), default="")
    project: Mapped[str] = mapped_column(Text, default="")
    assistant_name: Mapped[str] = mapped_column(Text, default="")
    is_starred: Mapped[bool] = mapped_column(default=False)
    is_archived: Mapped[bool] = mapped_column(default=False)
    # End of the shown line. None when there is no message to show.
    current_message_id: Mapped[str | None] = mapped_column(String(26))
    message_count: Mapped[int] = mapped_column(default=0)  # dialogue messages on the shown line
    token_count: Mapped[int] = mapped_column(default=0)  # of those messages, estimated
    # Keys and passwords that its messages hold, by kind; never the secrets themselves.
    secrets: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    secret_count: Mapped[int] = mapped_column(default=0, server_default="0")
    extra: Mapped[dict[str, Any]] = mapped_column(default=dict)
    imported_at: Mapped[datetime] = mapped_column(default=utcnow)
    changed_at: Mapped[datetime] = mapped_column(default=utcnow)


class Message(Base):
    """One message of the tree. Derived.

    `text` is the dialogue only, or, for kinds other than dialogue, what that kind says.
    """

    __tablename__ = "messages"
    __table_args__ = (
        UniqueConstraint("conversation_id", "external_id"),
        Index(None, "conversation_id", "position"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True)
    account_id: Mapped[str] = mapped_column(String(26))
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    external_id: Mapped[str] = mapped_column(String(512))
    parent_id: Mapped[str | None] = mapped_column(String(26))
    position: Mapped[int]  # order in the tree: the shown line first, then other branches
    on_shown_line: Mapped[bool]
    role: Mapped[str] = mapped_column(String(16))
    kind: Mapped[str] = mapped_column(String(16))
    author: Mapped[str] = mapped_column(Text, default="")
    model: Mapped[str] = mapped_column(String(200), default="")
    text: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime | None]
    attachments: Mapped[list[Any]] = mapped_column(default=list)
    asides: Mapped[list[Any]] = mapped_column(default=list)
    citations: Mapped[list[Any]] = mapped_column(default=list)


class Passage(Base):
    """The unit of retrieval: a dialogue message of the shown line, or a part of a long one; or
    a part of a text beside the message, such as an artifact.

    Derived. Ids are never used twice, so a late vector cannot attach to another text.
    """

    __tablename__ = "passages"
    __table_args__ = (
        UniqueConstraint("conversation_id", "position"),
        Index(None, "lexical_with"),
        Index(None, "dense_with"),
        Index(None, "account_id", "occurred_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    account_id: Mapped[str] = mapped_column(String(26))
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    message_id: Mapped[str] = mapped_column(String(26))
    position: Mapped[int]  # 0, 1, 2 … through the conversation; neighbours differ by 1
    start_offset: Mapped[int]  # in code points of the text that holds it
    end_offset: Mapped[int]
    role: Mapped[str] = mapped_column(String(16))
    heading: Mapped[str] = mapped_column(Text)  # date, speaker and title, as indexed
    # Name of the artifact or attachment that holds the text; "": the message itself does.
    document: Mapped[str] = mapped_column(Text, default="", server_default="")
    text: Mapped[str] = mapped_column(Text)
    token_count: Mapped[int]
    occurred_at: Mapped[datetime | None]
    # Signature of the BM25 index and of the embedding model it is indexed with; "" = not yet.
    lexical_with: Mapped[str] = mapped_column(String(120), default="")
    dense_with: Mapped[str] = mapped_column(String(120), default="")
    # A second model whose vector it has as well, while models are being changed.
    beside_with: Mapped[str] = mapped_column(String(120), default="", server_default="")
