"""Memories and buckets as the REST interface takes them. It gives what `recall.memories` does."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from backread.store.models import Forgetting
from recall.memories import MAX_BUCKET_NAME, MOST_AT_ONCE

MemoryId = Annotated[str, Field(min_length=1, max_length=64)]


class MemoryIn(BaseModel):
    """A memory to keep. Without a bucket: the default one."""

    text: str = Field(max_length=20_000)
    bucket_id: int | None = None
    supersedes: MemoryId | None = Field(None, description="A memory whose place it takes.")
    conversation_id: MemoryId | None = Field(None, description="Where it was said.")
    message_id: MemoryId | None = None


class MemoryChange(BaseModel):
    """What is left out stays."""

    text: str | None = Field(None, max_length=20_000)
    bucket_id: int | None = None
    bucket_name: str = Field("", max_length=MAX_BUCKET_NAME, description="Made if it is missing.")
    supersedes: MemoryId | None = None


class MemoryMove(BaseModel):
    """All or none."""

    ids: list[MemoryId] = Field(min_length=1, max_length=MOST_AT_ONCE)
    bucket_id: int | None = None
    bucket_name: str = Field("", max_length=MAX_BUCKET_NAME, description="Made if it is missing.")


class MemoryIds(BaseModel):
    ids: list[MemoryId] = Field(min_length=1, max_length=MOST_AT_ONCE)


class BucketIn(BaseModel):
    name: str = Field(min_length=1, max_length=MAX_BUCKET_NAME)


class ForgettingOut(BaseModel):
    """A deletion that can still be undone."""

    id: str
    kind: Literal["memories", "bucket"]
    memory_count: int
    bucket_name: str = Field(description="Of a bucket that was deleted.")
    client_id: str | None = Field(description="Who asked for it; null for the owner.")
    forgotten_at: datetime
    purge_at: datetime = Field(description="Then it is deleted for good.")


class ForgettingList(BaseModel):
    items: list[ForgettingOut]


def forgetting_out(row: Forgetting) -> ForgettingOut:
    return ForgettingOut.model_validate(row, from_attributes=True)
