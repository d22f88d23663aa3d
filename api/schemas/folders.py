"""Folders and their records as the REST interface takes and gives them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from backread.store.repositories.folders import FolderCount
from recall.folders import catalogue, keys, records
from recall.folders.views import ListedRecord


class FolderIn(BaseModel):
    name: str = Field(min_length=1, max_length=catalogue.MAX_NAME)
    generate_embeddings: bool = Field(True, description="Whether records can be found by meaning.")
    vector_description: str = Field(
        "", max_length=catalogue.MAX_DESCRIPTION, description="Put before every embedded text."
    )


class FolderChange(BaseModel):
    """What is left out stays."""

    name: str | None = Field(None, min_length=1, max_length=catalogue.MAX_NAME)
    generate_embeddings: bool | None = None
    vector_description: str | None = Field(None, max_length=catalogue.MAX_DESCRIPTION)


class FolderOut(BaseModel):
    id: str
    name: str
    generate_embeddings: bool
    vector_description: str
    records: int
    created_at: datetime
    updated_at: datetime


class FolderList(BaseModel):
    items: list[FolderOut]


class FolderRemoved(BaseModel):
    records: int = Field(description="How many records it held.")


class KeyIn(BaseModel):
    name: str = Field(min_length=1, max_length=keys.MAX_NAME, description="Whose key it is.")
    read_only: bool = False
    days: int | None = Field(None, ge=1, le=keys.MAX_DAYS, description="null: until revoked.")


class KeyOut(BaseModel):
    id: str
    name: str
    read_only: bool
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class NewKey(KeyOut):
    key: str = Field(description="Shown only now.")


class KeyList(BaseModel):
    items: list[KeyOut]


class RecordIn(BaseModel):
    name: str = Field(min_length=1, max_length=records.MAX_NAME)
    content: str = Field(max_length=records.MAX_CONTENT)
    metadata: dict[str, Any] = {}
    vector_description: str = Field("", max_length=records.MAX_DESCRIPTION)


class RecordChange(BaseModel):
    """What is left out stays; so do metadata keys that are not named."""

    name: str | None = Field(None, min_length=1, max_length=records.MAX_NAME)
    content: str | None = Field(None, max_length=records.MAX_CONTENT)
    operation: Literal["replace", "append"] = "replace"
    metadata: dict[str, Any] | None = None
    vector_description: str | None = Field(None, max_length=records.MAX_DESCRIPTION)


class RecordRestore(BaseModel):
    revision: int | None = Field(None, ge=1, description="null: as it was before its deletion.")


class DeletedRecords(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    items: list[ListedRecord]


def folder_out(counted: FolderCount) -> FolderOut:
    folder = counted.folder
    return FolderOut(
        id=folder.id,
        name=folder.name,
        generate_embeddings=folder.generate_embeddings,
        vector_description=folder.vector_description,
        records=counted.records,
        created_at=folder.created_at,
        updated_at=folder.updated_at,
    )
