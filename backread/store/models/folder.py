from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow
from backread.store.models.conversation import BigId
from backread.store.models.marks import IndexMarks


class Folder(Base):
    """A collection of records that agents share. Canonical."""

    __tablename__ = "folders"
    __table_args__ = (UniqueConstraint("account_id", "name"),)

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    # Whether the records' texts are put into the search index.
    generate_embeddings: Mapped[bool] = mapped_column(default=True)
    vector_description: Mapped[str] = mapped_column(Text, default="")  # before every embedded text
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)


class FolderKey(Base):
    """What opens one folder, and nothing else, to whoever sends it. Kept as a hash."""

    __tablename__ = "folder_keys"

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    folder_id: Mapped[str] = mapped_column(ForeignKey("folders.id", ondelete="CASCADE"), index=True)
    key_hash: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(String(100))
    is_read_only: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class FolderRecord(Base):
    """A Markdown text with metadata in a folder. Canonical, as are its revisions."""

    __tablename__ = "folder_records"
    __table_args__ = (
        Index(None, "folder_id", "name"),
        Index(None, "folder_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    folder_id: Mapped[str] = mapped_column(ForeignKey("folders.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(500))
    content: Mapped[str] = mapped_column(Text)
    fields: Mapped[dict[str, Any]] = mapped_column(default=dict)  # "metadata" outside
    vector_description: Mapped[str] = mapped_column(Text, default="")
    revision: Mapped[int] = mapped_column(default=1)  # of the newest `RecordRevision`
    # Made what is derived from the text: chunks and propositions. "" = nothing yet.
    derived_with: Mapped[str] = mapped_column(String(120), default="")
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)
    deleted_at: Mapped[datetime | None]


class RecordRevision(Base):
    """A record as one write left it. Canonical."""

    __tablename__ = "record_revisions"
    __table_args__ = (UniqueConstraint("record_id", "number"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    record_id: Mapped[str] = mapped_column(ForeignKey("folder_records.id", ondelete="CASCADE"))
    number: Mapped[int]
    operation: Mapped[str] = mapped_column(String(16))  # create replace append restore delete
    name: Mapped[str] = mapped_column(String(500))
    content: Mapped[str] = mapped_column(Text)
    fields: Mapped[dict[str, Any]] = mapped_column(default=dict)
    vector_description: Mapped[str] = mapped_column(Text, default="")
    made_by: Mapped[str] = mapped_column(String(120), default="")  # a key's name; "" = a person
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class RecordField(Base):
    """One metadata entry of a record, to filter by. Derived from `FolderRecord.fields`."""

    __tablename__ = "record_fields"
    __table_args__ = (Index(None, "folder_id", "key", "value_hash"),)

    record_id: Mapped[str] = mapped_column(
        ForeignKey("folder_records.id", ondelete="CASCADE"), primary_key=True
    )
    key: Mapped[str] = mapped_column(String(100), primary_key=True)
    folder_id: Mapped[str] = mapped_column(String(26))
    value_hash: Mapped[str] = mapped_column(String(64))  # of the value with its type


class RecordChunk(IndexMarks, Base):
    """A part of a record's content as the search index has it. Derived."""

    __tablename__ = "record_chunks"
    __table_args__ = (
        UniqueConstraint("record_id", "position"),
        Index(None, "account_id", "dense_with"),
        Index(None, "account_id", "lexical_with"),
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    folder_id: Mapped[str] = mapped_column(String(26), index=True)
    record_id: Mapped[str] = mapped_column(ForeignKey("folder_records.id", ondelete="CASCADE"))
    position: Mapped[int]
    # The shown part: characters of the record's content.
    start: Mapped[int]
    end: Mapped[int]
    text: Mapped[str] = mapped_column(Text)  # what is embedded, descriptions included
    point_id: Mapped[int] = mapped_column(BigId, unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class RecordProposition(Base):
    """One fact that a record states, understandable alone. Derived."""

    __tablename__ = "record_propositions"
    __table_args__ = (UniqueConstraint("record_id", "position"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    record_id: Mapped[str] = mapped_column(ForeignKey("folder_records.id", ondelete="CASCADE"))
    position: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    start: Mapped[int]  # characters of the content that say it
    end: Mapped[int]


class SimilarityCalibration(Base):
    """How an embedding model's cosine becomes a score whose .7 means "related". Derived."""

    __tablename__ = "similarity_calibrations"

    embedder: Mapped[str] = mapped_column(String(200), primary_key=True)  # signature + version
    intercept: Mapped[float]
    cosine_weight: Mapped[float]
    words_weight: Mapped[float]
    made_at: Mapped[datetime] = mapped_column(default=utcnow)
