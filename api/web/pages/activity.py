"""What works in the background, what waits, and what failed."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from api.activity import pause_job, read_activity, resume_job, stop_job
from api.deps import CsrfDep, ReadDep, SignedInDep, WriteDep
from api.web.templating import render
from backread.jobs.dead_letters import dismiss_all, dismiss_job, retry_all, retry_job

router = APIRouter(include_in_schema=False)


@router.get("/activity")
def activity_page(request: Request, session: ReadDep, signed_in: SignedInDep) -> Response:
    activity = read_activity(session, signed_in.principal)
    return render(request, "activity.html", {"signed_in": signed_in, "activity": activity})


def _back() -> Response:
    return RedirectResponse("/activity", status_code=303)


@router.post("/activity/retry-failed", dependencies=[CsrfDep])
def try_all_again(session: WriteDep, signed_in: SignedInDep) -> Response:
    retry_all(session, signed_in.principal)
    return _back()


@router.post("/activity/dismiss-failed", dependencies=[CsrfDep])
def let_all_be(session: WriteDep, signed_in: SignedInDep) -> Response:
    dismiss_all(session, signed_in.principal)
    return _back()


@router.post("/activity/{job_id}/stop", dependencies=[CsrfDep])
def stop(session: WriteDep, signed_in: SignedInDep, job_id: str) -> Response:
    stop_job(session, signed_in.principal, job_id)
    return _back()


@router.post("/activity/{job_id}/pause", dependencies=[CsrfDep])
def pause(session: WriteDep, signed_in: SignedInDep, job_id: str) -> Response:
    """Of an import to its report, which has the button to go on."""
    import_id = pause_job(session, signed_in.principal, job_id)
    return RedirectResponse(f"/imports/{import_id}", status_code=303) if import_id else _back()


@router.post("/activity/{job_id}/resume", dependencies=[CsrfDep])
def go_on(session: WriteDep, signed_in: SignedInDep, job_id: str) -> Response:
    resume_job(session, signed_in.principal, job_id)
    return _back()


@router.post("/activity/{job_id}/retry", dependencies=[CsrfDep])
def try_again(session: WriteDep, signed_in: SignedInDep, job_id: str) -> Response:
    retry_job(session, signed_in.principal, job_id)
    return _back()


@router.post("/activity/{job_id}/dismiss", dependencies=[CsrfDep])
def let_be(session: WriteDep, signed_in: SignedInDep, job_id: str) -> Response:
    dismiss_job(session, signed_in.principal, job_id)
    return _back()
