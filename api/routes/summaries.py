from fastapi import APIRouter

from api.deps import CsrfDep, HistoryReaderDep, HistoryWriterDep, KernelDep
from api.schemas.summaries import AcceptEstimateIn, SummariesOut, summaries_out
from recall.summarising.planning import (
    accept_estimate,
    pause_summaries,
    resume_summaries,
    summary_status,
)

router = APIRouter(tags=["language model"])


@router.get("/summaries")
def get_summaries(kernel: KernelDep, principal: HistoryReaderDep) -> SummariesOut:
    """How far the language model's summaries are, and the estimate that waits for a decision."""
    return summaries_out(summary_status(kernel, principal))


@router.post("/summaries/accept", dependencies=[CsrfDep])
def post_accept(
    kernel: KernelDep, principal: HistoryWriterDep, wanted: AcceptEstimateIn
) -> SummariesOut:
    """Agrees to spend what the offer with this `until` says. 409 when the offer is another one."""
    accept_estimate(kernel, principal, wanted.until)
    return summaries_out(summary_status(kernel, principal))


@router.post("/summaries/pause", dependencies=[CsrfDep])
def post_pause(kernel: KernelDep, principal: HistoryWriterDep) -> SummariesOut:
    """Holds back what was accepted and is not done yet."""
    pause_summaries(kernel, principal)
    return summaries_out(summary_status(kernel, principal))


@router.post("/summaries/resume", dependencies=[CsrfDep])
def post_resume(kernel: KernelDep, principal: HistoryWriterDep) -> SummariesOut:
    """Goes on with it, at once also with what waits for its next try."""
    resume_summaries(kernel, principal)
    return summaries_out(summary_status(kernel, principal))
