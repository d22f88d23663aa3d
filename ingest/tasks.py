"""The background jobs of ingest. Importing this module registers them."""

from backread.jobs import UPKEEP, JobContext, Queue, job
from backread.store.repositories.jobs import get_job
from ingest import erasing, indexing, rereading
from ingest.accept import RUN_JOB
from ingest.run import end_import, run_import
from ingest.uploads import TIDY_JOB, tidy_uploads

__all__ = ["erasing", "indexing", "rereading", "run_import_job"]


def _ended(context: JobContext, state: str, reason: str) -> None:
    with context.kernel.store.read() as session:
        row = get_job(session, context.job_id)
    if row is not None:
        end_import(context, row.args["import_id"], state, reason)


@job(RUN_JOB, queue=Queue.INTERACTIVE, on_unfinished=_ended)
def run_import_job(context: JobContext, *, import_id: str) -> None:
    run_import(context, import_id)


@job(TIDY_JOB, queue=Queue.BACKGROUND)
def tidy_uploads_job(context: JobContext) -> None:
    tidy_uploads(context.kernel)


UPKEEP.append(tidy_uploads)
