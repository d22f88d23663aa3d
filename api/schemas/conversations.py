"""Conversations and messages as the REST interface gives them."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class ConversationOut(BaseModel):
    """One conversation of a list. Times are the platform's own; null when it gave none."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    platform: str
    external_id: str
    title: str
    created_at: datetime | None
    updated_at: datetime | None
    first_message_at: datetime | None
    last_message_at: datetime | None
    url: str = Field(description="Address in the original platform; empty when it has none.")
    model: str
    project: str
    is_starred: bool
    is_archived: bool
    message_count: int = Field(description="Dialogue messages on the line that the platform shows.")
    secret_count: int = Field(description="Keys and passwords that its messages hold.")
    secrets: dict[str, int] = Field(description="The same by kind. The secrets are not given.")


class ConversationList(BaseModel):
    items: list[ConversationOut]
    total: int = Field(description="Conversations that match the filter, on all pages.")
    next_cursor: str = Field(description="Pass it as `after` for the next page; empty at the end.")


class MessageOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: str
    parent_id: str | None
    on_shown_line: bool
    role: str
    kind: str = Field(description="dialogue, hidden, system, tool or reasoning.")
    author: str
    model: str
    text: str
    created_at: datetime | None
    attachments: list[Any]
    asides: list[Any]
    citations: list[Any]


class ConversationDetail(ConversationOut):
    """A conversation with a stretch of one line of its messages."""

    messages: list[MessageOut]
    message_total: int = Field(description="Messages of every kind on this line.")
    offset: int


class PurgedStoreOut(BaseModel):
    name: str
    removed: int
    pending: bool = Field(description="It follows in the background.")


class ConversationDeleted(BaseModel):
    """The receipt of a deletion: every place that held something of the conversation."""

    conversation_id: str
    deleted_at: datetime
    stores: list[PurgedStoreOut]
    tombstones: int = Field(description="Ids under which no later import brings it back.")
    memories_kept: int = Field(description="Memories that were said there; they stay.")
