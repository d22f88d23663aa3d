from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow
from backread.store.models.conversation import BigId
from backread.store.models.marks import IndexMarks


class Note(Base):
    """A Markdown file that people and clients write: what it says now, or said last when it is
    deleted. Canonical, with its revisions. One row a path for ever; deleting keeps it."""

    __tablename__ = "notes"
    __table_args__ = (
        UniqueConstraint("account_id", "path"),
        Index(None, "account_id", "seq"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    path: Mapped[str] = mapped_column(String(512))
    title: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    front: Mapped[str | None] = mapped_column(Text)  # YAML text between the dashes
    frontmatter: Mapped[dict[str, Any]]  # read from `front`
    tags: Mapped[list[Any]]  # of the front matter and of the body
    folded: Mapped[str] = mapped_column(Text)  # what a search looks through
    size_bytes: Mapped[int]  # of the file's text in UTF-8
    number: Mapped[int]  # of its latest revision
    seq: Mapped[int] = mapped_column(BigInteger)  # of the same
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)
    deleted_at: Mapped[datetime | None]


class NoteRevision(Base):
    """What a note said after one change. Whole texts, never differences. Canonical.

    `seq` counts all changes of an account without a gap in time: who sees a number sees all below
    it. `number` counts those of one note from 1.
    """

    __tablename__ = "note_revisions"
    __table_args__ = (UniqueConstraint("account_id", "seq"),)

    note_id: Mapped[str] = mapped_column(
        ForeignKey("notes.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    seq: Mapped[int] = mapped_column(BigInteger)
    # write | edit | delete | restore | import | sync
    kind: Mapped[str] = mapped_column(String(16))
    body: Mapped[str] = mapped_column(Text)  # empty when it deletes
    front: Mapped[str | None] = mapped_column(Text)
    is_deleted: Mapped[bool] = mapped_column(default=False)
    client_id: Mapped[str | None] = mapped_column(String(512))  # who wrote; None = its owner
    author: Mapped[str] = mapped_column(Text, default="")  # who wrote elsewhere, in their words
    made_at: Mapped[datetime] = mapped_column(default=utcnow)


class NotePassage(IndexMarks, Base):
    """A stretch of a note for the search index. Derived, and made when the note is written."""

    __tablename__ = "note_passages"

    point_id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    note_id: Mapped[str] = mapped_column(ForeignKey("notes.id", ondelete="CASCADE"), index=True)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    ordinal: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    occurred_at: Mapped[datetime]
