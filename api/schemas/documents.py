"""Documents as the REST interface gives them."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field


class DocumentOut(BaseModel):
    """One document of a list. Times are the platform's own; null when it gave none."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    platform: str
    external_id: str
    kind: str = Field(description="document, instructions or description.")
    name: str
    project: str
    project_external_id: str
    media_type: str
    size_bytes: int = Field(description="Of its text in UTF-8.")
    sha256: str
    created_at: datetime | None
    updated_at: datetime | None
    imported_at: datetime


class DocumentDetail(DocumentOut):
    text: str


class DocumentList(BaseModel):
    items: list[DocumentOut]
    total: int = Field(description="Documents that match the filter, on all pages.")
    offset: int
