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
    left_out: int = Field(
        description="Items that it could not do and went on without; the log says why."
    )
    error: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobDetail(JobOut):
    """The same in words, with how fast it gets on."""

    label: str = Field(description="What people call it.")
    subject: str = Field(description="What it is about, such as the file of an import.")
    unit: str = Field(description="What progress counts, such as byte or passage.")
    rate: float = Field(description="Units in a second, lately; 0 while it is not known.")
    seconds_left: int | None = Field(description="While it can be told.")
    error_code: str = Field(
        description="unavailable, database, lost, silent, stalled, internal and others."
    )
    run_after: datetime = Field(description="A job that waits is not begun before this.")
    can_stop: bool
    can_pause: bool
    is_paused: bool = Field(description="Held back until it is resumed.")
    can_retry: bool
    is_dismissed: bool
    is_of_server: bool = Field(description="It is for no account; only owners see it.")


class JobList(BaseModel):
    items: list[JobDetail]


class JobState(BaseModel):
    id: str
    state: str


class JobCount(BaseModel):
    count: int


class QueueSizeOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    label: str
    queued: int
    running: int
    failed: int


class ActivityOut(BaseModel):
    """How much waits, runs and has failed; of the whole server only for owners."""

    queued: int
    running: int
    failed: int
    server: list[QueueSizeOut] | None
