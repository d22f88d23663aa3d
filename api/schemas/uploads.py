"""Uploads as the REST interface gives them."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field


class UploadOut(BaseModel):
    """A file on its way in."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    size: int = Field(description="Bytes it will have.")
    offset: int = Field(description="Bytes that are here.")
    expires_at: datetime = Field(description="When it is given up, unless more of it comes.")


class UploadList(BaseModel):
    items: list[UploadOut]


class UploadIds(BaseModel):
    ids: list[str]
