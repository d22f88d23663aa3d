"""The background jobs of ingest. Importing this module registers them."""

from backread.jobs import JobContext, Queue, job
from backread.store.repositories.jobs import get_job
from ingest import indexing
from ingest.accept import RUN_JOB
from ingest.run import end_import, run_import

__all__ = ["indexing", "run_import_job"]


def _ended(context: JobContext, state: str, reason: str) -> None:
    with context.kernel.store.read() as session:
        row = get_job(session, context.job_id)
    if row is not None:
        end_import(context, row.args["import_id"], state, reason)


@job(RUN_JOB, queue=Queue.INTERACTIVE, on_unfinished=_ended)
def run_import_job(context: JobContext, *, import_id: str) -> None:
    run_import(context, import_id)
