"""Smart Memory: what a bucket's memories are about. All derived from the memories."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class BucketCategorisation(Base):
    """How far the sorting of a bucket is. One row a bucket, as soon as it was sorted once."""

    __tablename__ = "bucket_categorisations"

    bucket_id: Mapped[int] = mapped_column(
        ForeignKey("buckets.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    revision: Mapped[int] = mapped_column(default=0)  # goes up with each run, so that none is lost
    made_with: Mapped[str] = mapped_column(String(200), default="")  # maker's version and the model
    memory_count: Mapped[int] = mapped_column(default=0)  # memories that were sorted
    grouped_count: Mapped[int] = mapped_column(default=0)  # memories when it was last grouped anew
    made_at: Mapped[datetime] = mapped_column(default=utcnow)


class Category(Base):
    """Memories of one bucket that belong together. Ids outlive further runs."""

    __tablename__ = "categories"

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    bucket_id: Mapped[int] = mapped_column(ForeignKey("buckets.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str] = mapped_column(String(8), default="group")  # group | whole | rest
    name: Mapped[str] = mapped_column(Text)
    phrases: Mapped[list[Any]] = mapped_column(default=list)  # what the name was made of
    # [{"text", "memories": [[id, text_hash], …]}]: shown only while those memories say the same.
    summary: Mapped[list[Any]] = mapped_column(default=list)
    pointers: Mapped[list[Any]] = mapped_column(default=list)  # [{"phrase", "memories": [id, …]}]
    members_hash: Mapped[str] = mapped_column(String(64), default="")  # what it was written from
    # The language model that named it and wrote its summary; "" = Backread's own way.
    written_by: Mapped[str] = mapped_column(String(200), default="")
    # Set when a language model was to write it and could not; it is asked again later.
    is_pending: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    changed_at: Mapped[datetime] = mapped_column(default=utcnow)


class CategoryMembership(Base):
    """Where a memory was sorted to, with its vector, so that only what changed is embedded."""

    __tablename__ = "category_memberships"

    memory_id: Mapped[str] = mapped_column(
        ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True
    )
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    bucket_id: Mapped[int] = mapped_column(ForeignKey("buckets.id", ondelete="CASCADE"), index=True)
    category_id: Mapped[str] = mapped_column(
        ForeignKey("categories.id", ondelete="CASCADE"), index=True
    )
    text_hash: Mapped[str] = mapped_column(String(64))  # of the text that was sorted
    vector: Mapped[bytes] = mapped_column(LargeBinary)  # half precision, little endian
    vector_with: Mapped[str] = mapped_column(String(200))  # the embedding model's signature
