from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import HistoryWriterDep, ReadDep
from api.schemas.jobs import JobList, JobOut
from backread.store.repositories.browsing import list_jobs

router = APIRouter(tags=["jobs"])


@router.get("/jobs")
def get_jobs(
    session: ReadDep, principal: HistoryWriterDep, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> JobList:
    """The account's background work, newest first."""
    jobs = list_jobs(session, principal, limit=limit)
    return JobList(items=[JobOut.model_validate(job) for job in jobs])
