from typing import Annotated, Literal

from fastapi import APIRouter, Query

from api.activity import (
    pause_job,
    read_activity,
    read_job,
    read_jobs,
    resume_job,
    stop_job,
)
from api.deps import CsrfDep, HistoryWriterDep, ReadDep, WriteDep
from api.schemas.jobs import ActivityOut, JobCount, JobDetail, JobList, JobState, QueueSizeOut
from backread.jobs.dead_letters import dismiss_all, dismiss_job, retry_all, retry_job
from backread.store.repositories.jobs import DEAD_LETTERS, FINISHED

router = APIRouter(tags=["jobs"])

Wanted = Literal["all", "open", "failed", "ended"]
_STATES = {
    "all": ("queued", "running", *FINISHED),
    "open": ("queued", "running"),
    "failed": DEAD_LETTERS,
    "ended": ("done", "cancelled"),
}


@router.get("/jobs")
def get_jobs(
    session: ReadDep,
    principal: HistoryWriterDep,
    state: Annotated[
        Wanted, Query(description="`failed`: what was neither tried again nor dismissed.")
    ] = "all",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> JobList:
    """The account's background work, newest first; for owners with the server's own."""
    jobs = read_jobs(session, principal, states=_STATES[state], limit=limit)
    return JobList(items=[JobDetail.model_validate(job) for job in jobs])


@router.get("/jobs/summary")
def get_summary(session: ReadDep, principal: HistoryWriterDep) -> ActivityOut:
    """How much waits, runs and has failed; for owners with the whole server's queues."""
    activity = read_activity(session, principal)
    server = activity.server
    return ActivityOut(
        **activity.counts,
        server=None if server is None else [QueueSizeOut.model_validate(each) for each in server],
    )


@router.post("/jobs/retry-failed", dependencies=[CsrfDep])
def post_retry_all(session: WriteDep, principal: HistoryWriterDep) -> JobCount:
    """Tries every job again that failed; answers how many there were."""
    return JobCount(count=retry_all(session, principal))


@router.post("/jobs/dismiss-failed", dependencies=[CsrfDep])
def post_dismiss_all(session: WriteDep, principal: HistoryWriterDep) -> JobCount:
    """Takes every job that failed off the list; answers how many there were."""
    return JobCount(count=dismiss_all(session, principal))


@router.get("/jobs/{job_id}")
def get_job(session: ReadDep, principal: HistoryWriterDep, job_id: str) -> JobDetail:
    return JobDetail.model_validate(read_job(session, principal, job_id))


@router.post("/jobs/{job_id}/cancel", dependencies=[CsrfDep])
def post_cancel(session: WriteDep, principal: HistoryWriterDep, job_id: str) -> JobState:
    """Calls a job off. One that runs is `running` until it comes to a safe place to stop."""
    return JobState(id=job_id, state=stop_job(session, principal, job_id))


@router.post("/jobs/{job_id}/pause", dependencies=[CsrfDep])
def post_pause(session: WriteDep, principal: HistoryWriterDep, job_id: str) -> JobDetail:
    """Holds a long job back until it is resumed. One that runs stops at a safe place."""
    pause_job(session, principal, job_id)
    session.expire_all()
    return JobDetail.model_validate(read_job(session, principal, job_id))


@router.post("/jobs/{job_id}/resume", dependencies=[CsrfDep])
def post_resume(session: WriteDep, principal: HistoryWriterDep, job_id: str) -> JobDetail:
    """Lets a paused job go on where it was. Imports are resumed by `/imports/{id}/resume`."""
    resume_job(session, principal, job_id)
    session.expire_all()
    return JobDetail.model_validate(read_job(session, principal, job_id))


@router.post("/jobs/{job_id}/retry", dependencies=[CsrfDep])
def post_retry(session: WriteDep, principal: HistoryWriterDep, job_id: str) -> JobState:
    """Queues a job that failed again, with all its tries."""
    return JobState(id=job_id, state=retry_job(session, principal, job_id))


@router.post("/jobs/{job_id}/dismiss", dependencies=[CsrfDep])
def post_dismiss(session: WriteDep, principal: HistoryWriterDep, job_id: str) -> JobDetail:
    """Takes a job that failed off the list. Its row stays until it is removed by age."""
    dismiss_job(session, principal, job_id)
    return JobDetail.model_validate(read_job(session, principal, job_id))
