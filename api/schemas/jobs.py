from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field


class JobOut(BaseModel):
    """One piece of background work."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    state: str = Field(description="queued, running, done, failed, dead or cancelled.")
    attempts: int
    done_units: int
    total_units: int = Field(description="0 while it is not known.")
    error: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobList(BaseModel):
    items: list[JobOut]
