"""Asking for background work, and calling it off."""

from typing import Any

from backread.jobs.broker import send
from backread.store.base import utcnow
from backread.store.engine import WriteSession, after_commit
from backread.store.repositories.jobs import find_job, insert_job, update_job
from backread.telemetry.spans import here


def enqueue(
    session: WriteSession,
    name: str,
    /,
    *,
    account_id: str | None,
    dedupe_key: str = "",
    **args: Any,
) -> str:
    """Writes a job in the caller's transaction and sends its id to the broker after the commit.

    Returns the job's id. If a job with the same `dedupe_key` waits already, nothing is written
    and that job's id is returned; while one runs, one more may wait and runs after it. `args`
    are ids and small values that JSON can hold. A rollback takes the job with it, and a broker
    that is down does not fail the caller: the sweeper sends the job later.
    """
    job_id = insert_job(
        session,
        name=name,
        account_id=account_id,
        dedupe_key=dedupe_key,
        args=args,
        traceparent=here(),
    )

    def send_it() -> None:
        send(job_id, name)

    after_commit(session, send_it)
    return job_id


def cancel(session: WriteSession, account_id: str, job_id: str) -> str:
    """Calls a job off and returns its state afterwards.

    A waiting job is `cancelled` at once. A running one stays `running` until it next reports,
    within seconds. A finished one stays as it is. Raises NotFound.
    """
    job = find_job(session, account_id, job_id)
    now = utcnow()
    if job.state == "queued" and update_job(
        session, job, state="cancelled", cancel_requested_at=now, finished_at=now
    ):
        return "cancelled"
    session.refresh(job)
    if job.state == "running":
        update_job(session, job, cancel_requested_at=now)
    return job.state
