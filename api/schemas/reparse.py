from pydantic import BaseModel, Field

from api.schemas.jobs import JobOut


class ReparseOut(BaseModel):
    """How reading conversations again after an upgrade stands."""

    outdated: int = Field(description="Conversations that this release can read better.")
    job: JobOut | None = Field(description="The work on them, while it waits or runs.")
