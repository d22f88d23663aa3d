"""What records look like outside: the contract's own names, and texts exactly as they are stored.

Records belong to the agents that write them. One that reads a record and writes it back must not
change it on the way, so unlike recalled chats nothing in them is rewritten.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class RecordOut(BaseModel):
    """One record, whole."""

    id: str
    name: str
    content: str = Field(description="Markdown, exactly as it was written.")
    metadata: dict[str, Any]
    vector_description: str
    created_at: datetime
    updated_at: datetime
    revision: int = Field(description="Counts the record's writes, from 1.")
    indexing: str = Field(
        description="indexed: vector_search finds it as it is now; waiting: not yet; "
        "off: the folder generates no embeddings."
    )


class ListedRecord(BaseModel):
    id: str
    name: str
    created_at: datetime


class RecordPage(BaseModel):
    """Records in the order they were made. `next_cursor` is empty on the last page."""

    records: list[RecordOut]
    total: int
    next_cursor: str = ""


class RecordList(BaseModel):
    """The same without contents."""

    records: list[ListedRecord]
    total: int
    next_cursor: str = ""


@dataclass(frozen=True, slots=True)
class RecordHit:
    """A record that a search of everything found, and the part of it that fits."""

    record_id: str
    record_name: str
    folder_id: str
    folder_name: str
    text: str


class FoundChunk(BaseModel):
    """A part of a record that answers a query."""

    content: str = Field(description="The matching part of the record.")
    similarity: float = Field(description="0 to 1; at .7 and above it is about the query.")
    record_id: str
    record_name: str
    metadata: dict[str, Any]
    start: int = Field(description="Where the part begins in the record's content, in characters.")
    end: int
    created_at: datetime
    updated_at: datetime


class SearchResult(BaseModel):
    """Parts by similarity, best first. `waiting` counts parts of the folder that are not indexed
    yet, so that an empty result is not taken for "there is nothing"."""

    results: list[FoundChunk]
    similarity_threshold: float
    waiting: int


class PropositionOut(BaseModel):
    text: str
    start: int = Field(description="Where the record states it, in characters of its content.")
    end: int


class PropositionList(BaseModel):
    record_id: str
    record_name: str
    propositions: list[PropositionOut]


class RevisionLine(BaseModel):
    """One write of a record, without what it wrote."""

    model_config = ConfigDict(from_attributes=True)

    number: int
    operation: str = Field(description="create, replace, append, restore, delete or import.")
    name: str
    made_by: str = Field(description="Name of the access key; empty for the folder's owner.")
    created_at: datetime


class RevisionOut(RevisionLine):
    """A record as one write left it."""

    content: str
    metadata: dict[str, Any]
    vector_description: str


class RecordHistory(BaseModel):
    """The writes of a record, newest first, at most 100 at a time."""

    items: list[RevisionLine]
    next_before: int | None = Field(description="Give it as `before` for older ones.")
