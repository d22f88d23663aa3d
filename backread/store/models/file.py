from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow
from backread.store.models.conversation import BigId
from backread.store.models.marks import IndexMarks


class FileBucket(Base):
    """A folder of uploaded documents. Canonical. Its ids are numbers of their own, apart from
    those of the buckets that hold memories."""

    __tablename__ = "file_buckets"
    __table_args__ = (UniqueConstraint("account_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    is_default: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class FileOriginal(Base):
    """The bytes of an uploaded document, once for an account however many files have them.
    Canonical, and never changed."""

    __tablename__ = "file_originals"

    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True
    )
    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)  # of the raw bytes
    codec: Mapped[str] = mapped_column(String(8), default="zstd")
    body: Mapped[bytes] = mapped_column(LargeBinary)
    raw_bytes: Mapped[int]
    stored_at: Mapped[datetime] = mapped_column(default=utcnow)


class File(Base):
    """An uploaded document. Name, bucket and original are canonical; the rest is derived.

    A document of the same name in the same bucket replaces it: the id stays, `version` goes up.
    """

    __tablename__ = "files"
    __table_args__ = (
        UniqueConstraint("bucket_id", "name"),
        Index(None, "account_id", "sha256"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    bucket_id: Mapped[int] = mapped_column(ForeignKey("file_buckets.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(400))  # shown to people, never used as a path
    sha256: Mapped[str] = mapped_column(String(64))
    size_bytes: Mapped[int]
    version: Mapped[int] = mapped_column(default=1)
    client_id: Mapped[str | None] = mapped_column(String(512))  # who uploaded it; None = its owner
    uploaded_at: Mapped[datetime] = mapped_column(default=utcnow)
    state: Mapped[str] = mapped_column(String(16), default="waiting")
    # waiting | reading | ready | failed
    problem: Mapped[str] = mapped_column(String(32), default="")  # why it failed, by name
    problem_text: Mapped[str] = mapped_column(Text, default="")
    problem_hint: Mapped[str] = mapped_column(Text, default="")
    remarks: Mapped[list[Any]] = mapped_column(default=list)  # what of it was not read
    kind: Mapped[str] = mapped_column(String(16), default="")  # by its content
    page_unit: Mapped[str] = mapped_column(String(16), default="")
    page_count: Mapped[int] = mapped_column(default=0)
    character_count: Mapped[int] = mapped_column(default=0)
    passage_count: Mapped[int] = mapped_column(default=0)
    reader_version: Mapped[int] = mapped_column(default=0)  # that has read it; 0 = none yet
    read_at: Mapped[datetime | None]


class FileVersion(Base):
    """An earlier original of a file that is kept."""

    __tablename__ = "file_versions"
    __table_args__ = (Index(None, "account_id", "sha256"),)

    file_id: Mapped[str] = mapped_column(
        ForeignKey("files.id", ondelete="CASCADE"), primary_key=True
    )
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    sha256: Mapped[str] = mapped_column(String(64))
    size_bytes: Mapped[int]
    uploaded_at: Mapped[datetime]


class FilePage(Base):
    """The text of one page of a file. Derived."""

    __tablename__ = "file_pages"

    file_id: Mapped[str] = mapped_column(
        ForeignKey("files.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # from 1
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    label: Mapped[str] = mapped_column(Text, default="")  # heading, slide title, sheet
    text: Mapped[str] = mapped_column(Text)
    has_table: Mapped[bool] = mapped_column(default=False)
    by_ocr: Mapped[bool] = mapped_column(default=False)


class FilePassage(IndexMarks, Base):
    """What search finds in uploaded documents and in documents of projects. Derived. Belongs to
    a file or to a document of a project, never to both."""

    __tablename__ = "file_passages"
    __table_args__ = (
        Index(None, "file_id", "position"),
        Index(None, "document_id", "position"),
        Index(None, "account_id", "lexical_with"),
    )

    # Random rather than counted: unique without a sequence, and never used twice.
    point_id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    file_id: Mapped[str | None] = mapped_column(ForeignKey("files.id", ondelete="CASCADE"))
    document_id: Mapped[str | None] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    group_name: Mapped[str] = mapped_column(String(32))  # the bucket's number, or "projects"
    position: Mapped[int]  # in the file, from 0
    first_page: Mapped[int]
    last_page: Mapped[int]
    start_offset: Mapped[int]  # in the text of the first page, in code points
    end_offset: Mapped[int]  # in the text of the last page
    location: Mapped[str] = mapped_column(Text)  # "page 3", "Sales!A2:D40"
    heading: Mapped[str] = mapped_column(Text)  # the file's name and what the passage is under
    text: Mapped[str] = mapped_column(Text)
    token_count: Mapped[int]
    occurred_at: Mapped[datetime | None]


class DocumentReading(Base):
    """Which text of a project's document its passages were made of. Derived."""

    __tablename__ = "document_readings"

    document_id: Mapped[str] = mapped_column(
        ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True
    )
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    sha256: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(Text)
    reader_version: Mapped[int]
