from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class Import(Base):
    """One import and its report. found = new + updated + unchanged + skipped + failed, always:
    the counts and the batch that they count are committed together."""

    __tablename__ = "imports"
    __table_args__ = (Index(None, "account_id", "created_at"),)

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    route: Mapped[str] = mapped_column(String(16))  # web | api | cli
    # queued | running | paused | readable | failed | cancelled. "readable": all stored, browsable
    # and lexically searchable; vectors may still follow.
    state: Mapped[str] = mapped_column(String(16), default="queued")
    # [{"name": shown to people, "path": on disk, "size": bytes}]
    files: Mapped[list[Any]] = mapped_column(default=list)
    owns_files: Mapped[bool] = mapped_column(default=False)  # uploaded copies, removed at the end
    is_dry_run: Mapped[bool] = mapped_column(default=False)
    platforms: Mapped[dict[str, Any]] = mapped_column(default=dict)  # slug -> conversations found
    found: Mapped[int] = mapped_column(default=0)
    new: Mapped[int] = mapped_column(default=0)
    updated: Mapped[int] = mapped_column(default=0)
    unchanged: Mapped[int] = mapped_column(default=0)
    skipped: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    messages_new: Mapped[int] = mapped_column(default=0)
    # Beside the conversations, and in no sum with them: suggestions for memories that were not
    # known before; documents that are new or have another text; secrets in what is new or updated.
    memories_found: Mapped[int] = mapped_column(default=0, server_default="0")
    documents_found: Mapped[int] = mapped_column(default=0, server_default="0")
    secrets_found: Mapped[int] = mapped_column(default=0, server_default="0")
    secrets_by_kind: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    bytes_total: Mapped[int] = mapped_column(BigInteger, default=0)
    bytes_done: Mapped[int] = mapped_column(BigInteger, default=0)
    earliest_at: Mapped[datetime | None]
    latest_at: Mapped[datetime | None]
    news: Mapped[dict[str, Any]] = mapped_column(default=dict)  # unknown shapes -> count
    warnings: Mapped[list[Any]] = mapped_column(default=list)  # texts for the report
    checkpoint: Mapped[dict[str, Any]] = mapped_column(default=dict)  # where to resume
    error_code: Mapped[str] = mapped_column(String(64), default="")
    error_message: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class ImportItem(Base):
    """What became of one conversation in an import."""

    __tablename__ = "import_items"
    __table_args__ = (Index(None, "import_id", "outcome"),)

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    import_id: Mapped[str] = mapped_column(ForeignKey("imports.id", ondelete="CASCADE"))
    outcome: Mapped[str] = mapped_column(String(16))  # new|updated|unchanged|skipped|failed
    platform: Mapped[str] = mapped_column(String(32), default="")
    external_id: Mapped[str] = mapped_column(String(512), default="")
    title: Mapped[str] = mapped_column(Text, default="")
    source: Mapped[str] = mapped_column(Text, default="")  # file inside the archive and position
    reason: Mapped[str] = mapped_column(Text, default="")  # in words, for skipped and failed
    conversation_id: Mapped[str | None] = mapped_column(String(26))
