"""One item of many: what it raises costs it alone, and the job goes on with the rest."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from backread.jobs.registry import JobContext, JobStopped
from backread.jobs.retrying import RETRYABLE
from backread.log import get_logger

_log = get_logger(__name__)


@dataclass(slots=True)
class Attempt:
    """How one item went; told once its block has ended."""

    failed: bool = False


@contextmanager
def one_of_many(step: str, item: str | int, context: JobContext | None = None) -> Iterator[Attempt]:
    """Whatever the block raises is logged with `step` and the item's id, counted at the job, and
    not raised: `failed` says it. The caller then notes the item as dealt with, so that the next
    round does not meet it again; a change of it, or of what reads it, brings it back.

    What stops the job, and what passes by itself (`RETRYABLE`), goes on to the caller: it is no
    fault of the item.
    """
    attempt = Attempt()
    try:
        yield attempt
    except (JobStopped, *RETRYABLE):
        raise
    except Exception as error:  # noqa: BLE001 - an edge like a job's, of one item: logged and counted
        _log.exception("item_left_out", step=step, item=item, error=type(error).__name__)
        attempt.failed = True
        if context is not None:
            context.leave_out()
