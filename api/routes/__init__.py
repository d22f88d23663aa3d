"""The REST interface: `/api/v1` for the web app and scripts, `/healthz` for whatever watches."""

from fastapi import APIRouter

from api.routes import (
    agents,
    artifacts,
    categories,
    conversations,
    documents,
    export,
    file_buckets,
    files,
    folders,
    health,
    imports,
    jobs,
    memories,
    metrics,
    notes,
    overview,
    records,
    reparse,
    search,
    suggestions,
    summaries,
    timeline,
    tus,
    usage,
)

_v1 = APIRouter(prefix="/api/v1")
for part in (
    imports,
    reparse,
    tus,
    conversations,
    artifacts,
    search,
    memories,
    timeline,
    suggestions,
    categories,
    overview,
    documents,
    files,
    file_buckets,
    notes,
    folders,
    records,
    agents,
    export,
    summaries,
    usage,
    jobs,
):
    _v1.include_router(part.router)

router = APIRouter()
router.include_router(health.router)
router.include_router(metrics.router)
router.include_router(_v1)
