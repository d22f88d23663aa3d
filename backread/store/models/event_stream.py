from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backread.store.base import Base, utcnow


class EventStream(Base):
    """An open event stream of an MCP client (HTTP+SSE, 2024-11-05), held by one web process.
    Lives as long as the connection."""

    __tablename__ = "event_streams"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    client_id: Mapped[str] = mapped_column(String(512), default="")
    seen_at: Mapped[datetime] = mapped_column(default=utcnow)  # when its process last said so


class StreamReply(Base):
    """An answer that another web process has for a stream; gone once it was sent."""

    __tablename__ = "stream_replies"
    __table_args__ = (Index(None, "stream_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)  # ascending: replies go out in order
    stream_id: Mapped[str] = mapped_column(ForeignKey("event_streams.id", ondelete="CASCADE"))
    body: Mapped[str] = mapped_column(Text)
