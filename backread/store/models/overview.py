"""The overview of an account's chats. All derived from the conversations."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from backread.store.base import Base, utcnow


class ConversationDigest(Base):
    """What the overview needs of one conversation, so that only changed ones are read again. It
    goes with its conversation, and so does all that is said on its evidence."""

    __tablename__ = "conversation_digests"

    conversation_id: Mapped[str] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    made_with: Mapped[str] = mapped_column(String(200))  # maker's version and embedding model
    source_changed_at: Mapped[datetime]  # the conversation's `changed_at` when it was read
    language: Mapped[str] = mapped_column(String(8), default="")  # ISO 639-1; "" = not told apart
    is_private: Mapped[bool] = mapped_column(default=False)  # left out of the portrait
    months: Mapped[dict[str, Any]] = mapped_column(default=dict)  # "2024-03" -> dialogue messages
    body: Mapped[dict[str, Any]] = mapped_column(default=dict)  # see `recall.overview.digests`
    vector: Mapped[bytes] = mapped_column(LargeBinary)  # half precision, little endian
    # Whether the portrait was made with it. Fewer such rows than the portrait counts means that
    # something is gone that it tells of.
    in_overview: Mapped[bool] = mapped_column(default=False)


class Overview(Base):
    """The portrait of an account. Not shown once a conversation that it was made from is gone."""

    __tablename__ = "overviews"

    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True
    )
    made_with: Mapped[str] = mapped_column(String(200))
    made_at: Mapped[datetime] = mapped_column(default=utcnow)
    conversation_count: Mapped[int] = mapped_column(default=0)  # digests that it was made from
    portrait: Mapped[dict[str, Any]] = mapped_column(default=dict)
    # Set when a language model was to write it and could not; it is asked again later.
    is_pending: Mapped[bool] = mapped_column(default=False)
