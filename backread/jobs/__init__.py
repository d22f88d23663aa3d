"""Background jobs: the outbox, the Celery application and the one way to run a job.

`enqueue()` writes a row in the caller's transaction and sends its id to the broker after commit.
A job function is registered under `package.verb_noun` with `@job` and gets a `JobContext`. The
row is the truth; the broker only saves workers from looking for it.
"""

from backread.jobs.inline import run_pending
from backread.jobs.lease import Progress
from backread.jobs.outbox import cancel, enqueue
from backread.jobs.registry import (
    JOBS,
    UPKEEP,
    HelperEnded,
    JobCancelled,
    JobContext,
    JobInterrupted,
    JobStopped,
    LeaseLost,
    Queue,
    job,
)
from backread.jobs.sparing import one_of_many

__all__ = [
    "JOBS",
    "UPKEEP",
    "HelperEnded",
    "JobCancelled",
    "JobContext",
    "JobInterrupted",
    "JobStopped",
    "LeaseLost",
    "Progress",
    "Queue",
    "cancel",
    "enqueue",
    "job",
    "one_of_many",
    "run_pending",
]
