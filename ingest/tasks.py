"""The background jobs of ingest. Importing this module registers them."""

from backread.jobs import UPKEEP, JobContext, Queue, job
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.models import Job
from backread.store.repositories.jobs import get_job
from ingest import erasing, indexing, model_change, rereading
from ingest.accept import RUN_JOB
from ingest.controls import reopen_import
from ingest.documents import projects as project_documents
from ingest.documents import reading as file_reading
from ingest.indexing import enqueue_catch_up
from ingest.run import end_import, run_import
from ingest.uploads import TIDY_JOB, tidy_uploads

__all__ = [
    "erasing",
    "file_reading",
    "indexing",
    "model_change",
    "project_documents",
    "rereading",
    "run_import_job",
]


def _ended(context: JobContext, state: str, reason: str) -> None:
    with context.kernel.store.read() as session:
        row = get_job(session, context.job_id)
    if row is not None:
        end_import(context, row.args["import_id"], state, reason)


def _take_up_again(session: WriteSession, job: Job) -> None:
    if job.account_id is not None:
        reopen_import(session, job.account_id, job.args["import_id"])


@job(RUN_JOB, queue=Queue.INTERACTIVE, on_unfinished=_ended, on_retry=_take_up_again)
def run_import_job(context: JobContext, *, import_id: str) -> None:
    run_import(context, import_id)


@job(TIDY_JOB, queue=Queue.BACKGROUND)
def tidy_uploads_job(context: JobContext) -> None:
    tidy_uploads(context.kernel)


def look_for_lag(kernel: Kernel) -> None:
    """Asks for derived rows that lag behind what they are made from."""
    with kernel.store.write() as session:
        enqueue_catch_up(session)


UPKEEP.append(tidy_uploads)
UPKEEP.append(look_for_lag)
