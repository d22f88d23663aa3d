from fastapi import APIRouter, status

from api.deps import CsrfDep, HistoryWriterDep, ReadDep, WriteDep
from api.schemas.jobs import JobOut
from api.schemas.reparse import ReparseOut
from ingest.rereading import Rereading, request_rereading, rereading_state

router = APIRouter(tags=["imports"])


@router.get("/reparse")
def get_reparse(session: ReadDep, principal: HistoryWriterDep) -> ReparseOut:
    """How many conversations were read by an older release and can be read better by this one."""
    return _out(rereading_state(session, principal))


@router.post("/reparse", status_code=status.HTTP_202_ACCEPTED, dependencies=[CsrfDep])
def post_reparse(session: WriteDep, principal: HistoryWriterDep) -> ReparseOut:
    """Reads them again from their raw captures, in the background. Does nothing when there are
    none."""
    request_rereading(session, principal)
    return _out(rereading_state(session, principal))


def _out(state: Rereading) -> ReparseOut:
    job = JobOut.model_validate(state.job) if state.job is not None else None
    return ReparseOut(outdated=state.outdated, job=job)
