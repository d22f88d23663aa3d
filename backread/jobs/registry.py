"""Which jobs exist and what a running one may use."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from backread.errors import Unavailable
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.models import Job


class Queue(StrEnum):
    """Where a job waits. Each has its own worker process, so long work in the background never
    keeps a person waiting for an import."""

    INTERACTIVE = "interactive"
    BACKGROUND = "background"


class JobStopped(Exception):
    """Raised by `JobContext.report()`: the job must end now. Let it pass; the runner handles it."""


class JobCancelled(JobStopped):
    """Somebody asked for the job to be cancelled."""


class HelperEnded(Unavailable):
    """A process that works for the job was ended from outside. There is nothing to wait for, so
    the job is tried again within seconds, however often that happened."""


class JobInterrupted(JobStopped):
    """The worker shuts down; the job is queued again and resumes after the restart."""


class JobPaused(JobStopped):
    """Somebody asked for the job to be paused; it waits until it may go on."""


class JobGaveWay(JobStopped):
    """Another account's job, or a more urgent one, waits for the place of this one. It is queued
    again, comes after them, and goes on where it was."""


class JobStalled(JobStopped):
    """The job answers and does not get on. It counts as a failure and is tried again later."""


class LeaseLost(JobStopped):
    """Another worker has taken the job over; this one must not write any more."""


class JobContext(Protocol):
    """What a running job may use."""

    kernel: Kernel
    job_id: str
    account_id: str | None

    def report(self, done: int, total: int) -> None:
        """Notes progress and raises `JobStopped` when the job must end.

        Costs nothing and takes no database lock, so it may be called often and inside a
        transaction. Each call with new numbers says that what came before is stored for good:
        from the second one on, a job may have to give way here to one that waits. The lease is
        kept alive by a thread beside the job. A job that does not call this or `check` for
        `job_silent_minutes` has its process ended; one whose numbers stay the same for
        `job_stalled_minutes` is stopped. Both are tried again later.
        """
        ...

    def check(self) -> None:
        """Raises `JobStopped` when the job must end, and says that it still works; no progress.
        For the middle of long steps, so that a request to cancel is seen within seconds."""
        ...

    def leave_out(self) -> None:
        """Counts an item that could not be done and that the job goes on without. See
        `one_of_many`."""
        ...


JobFunction = Callable[..., None]
UnfinishedHook = Callable[[JobContext, str, str], None]
RetryHook = Callable[[WriteSession, Job], None]


@dataclass(frozen=True, slots=True)
class JobDefinition:
    name: str
    function: JobFunction
    queue: Queue
    on_unfinished: UnfinishedHook | None
    on_retry: RetryHook | None = None
    backfill: bool = False
    stalled_minutes: float | None = None
    silent_minutes: float | None = None


JOBS: dict[str, JobDefinition] = {}

# Done once an hour, beside the jobs: whatever has to be cleared away. Must be repeatable, and
# goes on with the next when one fails. What it is about is in its docstring.
UPKEEP: list[Callable[[Kernel], None]] = []


def job(
    name: str,
    *,
    queue: Queue = Queue.INTERACTIVE,
    on_unfinished: UnfinishedHook | None = None,
    on_retry: RetryHook | None = None,
    backfill: bool = False,
    stalled_minutes: float | None = None,
    silent_minutes: float | None = None,
) -> Callable[[JobFunction], JobFunction]:
    """Registers a function under `package.verb_noun`. It is called with a `JobContext` and the
    arguments given to `enqueue()`, and may run more than once: it must be repeatable.

    `on_unfinished(context, state, reason)` runs when the job ends as failed, dead or cancelled
    after it has started, so that what it worked on can say so. `on_retry(session, job)` runs in
    the transaction that queues such a job again, and raises Conflict when that is of no use.

    `backfill`: long work that nobody waits for. It begins after every other job of its queue, and
    gives way to them. `stalled_minutes` and `silent_minutes` stand in for the settings
    `job_stalled_minutes` and `job_silent_minutes`.
    """

    def register(function: JobFunction) -> JobFunction:
        JOBS[name] = JobDefinition(
            name,
            function,
            queue,
            on_unfinished,
            on_retry,
            backfill,
            stalled_minutes,
            silent_minutes,
        )
        return function

    return register


def queue_of(name: str) -> Queue:
    """The queue of a job; a process that has not loaded the job sends it to the quick one."""
    definition = JOBS.get(name)
    return definition.queue if definition else Queue.INTERACTIVE


def is_backfill(name: str) -> bool:
    definition = JOBS.get(name)
    return definition is not None and definition.backfill
