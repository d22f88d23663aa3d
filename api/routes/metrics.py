import secrets

from fastapi import APIRouter, Request, Response

from api.deps import KernelDep
from backread.errors import NotAuthenticated, NotFound
from backread.jobs.figures import job_figures
from backread.telemetry.metrics import CONTENT_TYPE, exposition

router = APIRouter(tags=["metrics"])


@router.get("/metrics", response_class=Response)
def get_metrics(request: Request, kernel: KernelDep) -> Response:
    """Figures for Prometheus. Needs `BACKREAD_METRICS_TOKEN`; without that setting there is no
    such page. A personal token or a sign-in does not open it."""
    expected = kernel.settings.metrics_token.get_secret_value()
    if not expected:
        raise NotFound("There is nothing here.")
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secrets.compare_digest(
        given.strip().encode(), expected.encode()
    ):
        raise NotAuthenticated(
            "The figures need their own token.",
            hint="Have Prometheus send BACKREAD_METRICS_TOKEN as a bearer token.",
        )
    return Response(exposition(job_figures(kernel)), media_type=CONTENT_TYPE)
