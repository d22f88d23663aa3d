from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class Document(Base):
    """A text of its own, beside the conversations: what a project holds, its instructions and
    its description. When a later export has another text it replaces this one; the former stays
    in its companion."""

    __tablename__ = "documents"
    __table_args__ = (
        UniqueConstraint("account_id", "platform", "external_id"),
        Index(None, "account_id", "project", "name"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    platform: Mapped[str] = mapped_column(String(32))
    external_id: Mapped[str] = mapped_column(String(512))
    kind: Mapped[str] = mapped_column(String(16))  # document | instructions | description
    name: Mapped[str] = mapped_column(Text)  # shown to people, never used as a path
    project: Mapped[str] = mapped_column(String(500), default="")
    project_external_id: Mapped[str] = mapped_column(String(512), default="")
    media_type: Mapped[str] = mapped_column(String(128), default="text/plain")
    text: Mapped[str] = mapped_column(Text)
    size_bytes: Mapped[int]  # of the text in UTF-8
    sha256: Mapped[str] = mapped_column(String(64))  # of the same bytes
    # The platform's own times; None when the export has none.
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    import_id: Mapped[str | None] = mapped_column(String(26))  # that brought this text
    imported_at: Mapped[datetime] = mapped_column(default=utcnow)
    changed_at: Mapped[datetime] = mapped_column(default=utcnow)
