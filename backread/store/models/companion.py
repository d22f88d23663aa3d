from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class Companion(Base):
    """Something that an export holds beside its conversations, such as a project or a file of
    memories, raw as it came in. Canonical: documents and suggested memories can be made from it
    again. Never changed but for `reader_version`; superseded ones stay."""

    __tablename__ = "companions"
    __table_args__ = (UniqueConstraint("account_id", "reader", "external_id", "content_hash"),)

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    reader: Mapped[str] = mapped_column(String(32))  # slug of the format that reads `body`
    reader_version: Mapped[int]  # that has read it last
    external_id: Mapped[str] = mapped_column(String(512))
    content_hash: Mapped[str] = mapped_column(String(64))  # SHA-256 of the raw bytes
    codec: Mapped[str] = mapped_column(String(8), default="zstd")
    body: Mapped[bytes] = mapped_column(LargeBinary)
    raw_bytes: Mapped[int]
    import_id: Mapped[str | None] = mapped_column(String(26))
    captured_at: Mapped[datetime] = mapped_column(default=utcnow)
