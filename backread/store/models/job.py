from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class Job(Base):
    """Background work, written in the transaction that needs it (an outbox): whatever happens
    to the broker or a worker, the row says what is still to be done."""

    __tablename__ = "jobs"
    __table_args__ = (
        Index(None, "state", "run_after"),
        Index(None, "account_id", "created_at"),
        Index(None, "dedupe_key"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str | None] = mapped_column(String(26))
    name: Mapped[str] = mapped_column(String(64))  # package.verb_noun
    args: Mapped[dict[str, Any]] = mapped_column(default=dict)  # ids only
    # An unfinished job with the same key makes a further enqueue a no-op.
    dedupe_key: Mapped[str] = mapped_column(String(200), default="")
    state: Mapped[str] = mapped_column(String(16), default="queued")  # running|done|failed|dead
    attempts: Mapped[int] = mapped_column(default=0)
    run_after: Mapped[datetime] = mapped_column(default=utcnow)
    lease_until: Mapped[datetime | None]
    done_units: Mapped[int] = mapped_column(default=0)
    total_units: Mapped[int] = mapped_column(default=0)
    error: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
