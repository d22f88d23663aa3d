from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backread.store.base import Base, utcnow


class StoredSummary(Base):
    """What a language model made of a long conversation. Derived."""

    __tablename__ = "conversation_summaries"
    __table_args__ = (Index(None, "account_id", "try_after"),)

    conversation_id: Mapped[str] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    account_id: Mapped[str] = mapped_column(String(26))
    # made | waiting (what stands here is extractive, and the model is asked again later)
    state: Mapped[str] = mapped_column(String(16))
    made_by: Mapped[str] = mapped_column(String(200))  # the model's name, or "extractive"
    maker: Mapped[str] = mapped_column(String(200))  # versions of the prompts and of the method
    input_hash: Mapped[str] = mapped_column(String(64))
    # The conversation's `changed_at` when it was read: equal means that nothing can be new.
    input_changed_at: Mapped[datetime]
    language: Mapped[str] = mapped_column(String(16), default="")
    # [{"text": …, "messageIds": […]}] in reading order
    sentences: Mapped[list[Any]] = mapped_column(default=list)
    dropped: Mapped[int] = mapped_column(default=0)  # sentences without support in what they cite
    why: Mapped[str] = mapped_column(String(20), default="")  # of waiting
    failures: Mapped[int] = mapped_column(default=0)
    try_after: Mapped[datetime | None]
    made_at: Mapped[datetime] = mapped_column(default=utcnow)


class SummaryPart(Base):
    """The summary of a stretch of a conversation, kept so that an unchanged stretch is not sent
    again when the conversation grows or a job is killed. Derived."""

    __tablename__ = "summary_parts"

    conversation_id: Mapped[str] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    # Of the text, the prompt and the model together.
    input_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(String(26))
    sentences: Mapped[list[Any]] = mapped_column(default=list)
    dropped: Mapped[int] = mapped_column(default=0)
    made_at: Mapped[datetime] = mapped_column(default=utcnow)


class SummaryPlan(Base):
    """What an account's owner has agreed to have summarised. Canonical: it is consent to spend.

    Conversations that changed after `offered_until` are summarised as they come. Those up to it
    wait until somebody accepts the estimate, which sets `accepted_until`.
    """

    __tablename__ = "summary_plans"

    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True
    )
    model: Mapped[str] = mapped_column(String(200))
    maker: Mapped[str] = mapped_column(String(200))
    offered_until: Mapped[datetime]
    accepted_until: Mapped[datetime | None]
    accepted_at: Mapped[datetime | None]
    paused_at: Mapped[datetime | None]
    # What was accepted, as it was shown.
    conversations: Mapped[int] = mapped_column(default=0)
    tokens_in: Mapped[int] = mapped_column(BigInteger, default=0)
    tokens_out: Mapped[int] = mapped_column(BigInteger, default=0)
    cost_micros: Mapped[int | None] = mapped_column(BigInteger)
    # After a failure that is not about one conversation.
    failures: Mapped[int] = mapped_column(default=0)
    why: Mapped[str] = mapped_column(Text, default="")
    try_after: Mapped[datetime | None]
