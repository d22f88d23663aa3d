"""Which jobs exist and what a running one may use."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from backread.errors import Unavailable
from backread.kernel import Kernel


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
        transaction. The lease is kept alive by a thread beside the job; a job that has not
        called this for half an hour counts as stuck and is started again elsewhere.
        """
        ...

    def check(self) -> None:
        """Raises `JobStopped` when the job must end, and says that it still works; no progress.
        For the middle of long steps, so that a request to cancel is seen within seconds."""
        ...


JobFunction = Callable[..., None]
UnfinishedHook = Callable[[JobContext, str, str], None]


@dataclass(frozen=True, slots=True)
class JobDefinition:
    name: str
    function: JobFunction
    queue: Queue
    on_unfinished: UnfinishedHook | None


JOBS: dict[str, JobDefinition] = {}

# Done once an hour, beside the jobs: whatever has to be cleared away. Must be repeatable.
UPKEEP: list[Callable[[Kernel], None]] = []


def job(
    name: str,
    *,
    queue: Queue = Queue.INTERACTIVE,
    on_unfinished: UnfinishedHook | None = None,
) -> Callable[[JobFunction], JobFunction]:
    """Registers a function under `package.verb_noun`. It is called with a `JobContext` and the
    arguments given to `enqueue()`, and may run more than once: it must be repeatable.

    `on_unfinished(context, state, reason)` runs when the job ends as failed, dead or cancelled
    after it has started, so that what it worked on can say so.
    """

    def register(function: JobFunction) -> JobFunction:
        JOBS[name] = JobDefinition(name, function, queue, on_unfinished)
        return function

    return register


def queue_of(name: str) -> Queue:
    """The queue of a job; a process that has not loaded the job sends it to the quick one."""
    definition = JOBS.get(name)
    return definition.queue if definition else Queue.INTERACTIVE
