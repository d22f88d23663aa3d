"""Suggested memories as the REST interface takes and gives them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from backread.store.repositories.suggestions import ListedSuggestion
from recall.memories import MAX_BUCKET_NAME
from recall.suggestions import MOST_AT_ONCE

SuggestionId = Annotated[str, Field(max_length=26)]
State = Literal["open", "accepted", "dismissed"]


class SuggestionOut(BaseModel):
    id: str
    state: State
    platform: str
    text: str
    source: str = Field(description="In words, where the platform has it.")
    project: str = Field(description="The project that it belongs to; empty when none is known.")
    conversation_id: str | None = Field(description="Where it was said; null for a file's own.")
    message_id: str | None
    conversation_title: str | None
    occurred_at: datetime | None = Field(description="The platform's own time, if it has one.")
    import_id: str | None
    memory_id: str | None = Field(description="What it was accepted as.")
    memory_text: str = Field(description="That memory's words; empty when there is none.")
    created_at: datetime
    decided_at: datetime | None


class SuggestionList(BaseModel):
    items: list[SuggestionOut]
    total: int = Field(description="Suggestions that match the filter, on all pages.")
    offset: int


class AcceptedIn(BaseModel):
    id: SuggestionId
    text: str = Field("", max_length=20_000, description="Kept instead of the platform's words.")


class AcceptIn(BaseModel):
    """Which suggestions to keep, and where. Without a bucket: the default one."""

    items: list[AcceptedIn] = Field(min_length=1, max_length=MOST_AT_ONCE)
    bucket_id: int | None = None
    bucket_name: str = Field("", max_length=MAX_BUCKET_NAME, description="Made if it is missing.")


class AcceptOut(BaseModel):
    """accepted = stored + those that the bucket held already."""

    accepted: int
    stored: int
    bucket_id: int
    bucket_name: str


class SuggestionIds(BaseModel):
    ids: list[SuggestionId] = Field(min_length=1, max_length=MOST_AT_ONCE)


class SuggestionsMoved(BaseModel):
    changed: int = Field(description="Those that were in another state before.")


def suggestion_out(listed: ListedSuggestion) -> SuggestionOut:
    row = listed.suggestion
    return SuggestionOut(
        id=row.id,
        state=row.state,
        platform=row.platform,
        text=row.text,
        source=row.source,
        project=listed.project,
        conversation_id=row.conversation_id if listed.conversation_title is not None else None,
        message_id=row.message_id if listed.conversation_title is not None else None,
        conversation_title=listed.conversation_title,
        occurred_at=row.occurred_at,
        import_id=row.import_id,
        memory_id=row.memory_id,
        memory_text=listed.memory_text,
        created_at=row.created_at,
        decided_at=row.decided_at,
    )
