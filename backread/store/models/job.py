from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


def _one_per_key(state: str) -> Index:
    """At most one job of a key waits and at most one runs; the database sees to it."""
    condition = text(f"state = '{state}' AND dedupe_key <> ''")
    return Index(
        f"uq_jobs_{state}_dedupe_key",
        "dedupe_key",
        unique=True,
        sqlite_where=condition,
        postgresql_where=condition,
    )


class Job(Base):
    """Background work, written in the transaction that needs it (an outbox): whatever happens
    to the broker or a worker, the row says what is still to be done."""

    __tablename__ = "jobs"
    __table_args__ = (
        Index(None, "state", "run_after"),
        Index(None, "account_id", "created_at"),
        Index(None, "state", "account_id", "name", "run_after"),
        _one_per_key("queued"),
        _one_per_key("running"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str | None] = mapped_column(String(26))
    name: Mapped[str] = mapped_column(String(64))  # package.verb_noun
    args: Mapped[dict[str, Any]] = mapped_column(default=dict)  # ids only
    # A waiting job with the same key makes a further enqueue a no-op. While one runs, one more
    # may wait: what it is to do may have come up after the running one looked.
    dedupe_key: Mapped[str] = mapped_column(String(200), default="")
    # queued | running | done | failed (its own error) | dead (retries used up) | cancelled
    state: Mapped[str] = mapped_column(String(16), default="queued")
    attempts: Mapped[int] = mapped_column(default=0)  # starts; also fences off a former runner
    failures: Mapped[int] = mapped_column(default=0)  # in a row, without progress between them
    losses: Mapped[int] = mapped_column(default=0)  # its process ended; in a row, likewise
    revivals: Mapped[int] = mapped_column(default=0)  # taken up again after it was dead, by itself
    run_after: Mapped[datetime] = mapped_column(default=utcnow)
    sent_at: Mapped[datetime | None]  # when the sweeper last put it on the broker
    lease_until: Mapped[datetime | None]
    worker: Mapped[str] = mapped_column(String(64), default="")  # whose lease it is
    claimed_at: Mapped[datetime | None]  # when the present or latest run began
    cancel_requested_at: Mapped[datetime | None]
    done_units: Mapped[int] = mapped_column(default=0)
    total_units: Mapped[int] = mapped_column(default=0)
    units_per_second: Mapped[float] = mapped_column(default=0.0)  # lately
    # Items that raised and that it went on without.
    left_out: Mapped[int] = mapped_column(default=0, server_default="0")
    # Where it was asked for, as W3C Trace Context writes it; empty when nobody traces.
    traceparent: Mapped[str] = mapped_column(String(55), default="", server_default="")
    error: Mapped[str] = mapped_column(Text, default="")
    error_code: Mapped[str] = mapped_column(String(32), default="")  # of `backread.errors`, or own
    paused_at: Mapped[datetime | None]  # by a person; it waits until that is taken back
    dismissed_at: Mapped[datetime | None]  # a person has seen that it failed and let it be
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class JobTurn(Base):
    """When an account last had its turn in a queue, so that the next is another's. It matters for
    as long as jobs wait, and `upkeep` removes it after a day."""

    __tablename__ = "job_turns"

    owner: Mapped[str] = mapped_column(String(26), primary_key=True)  # account id; "" is the server
    queue: Mapped[str] = mapped_column(String(16), primary_key=True)
    served_at: Mapped[datetime] = mapped_column(default=utcnow)
