"""The REST interface: `/api/v1` for the web app and scripts, `/healthz` for whatever watches."""

from fastapi import APIRouter

from api.routes import (
    artifacts,
    conversations,
    documents,
    export,
    health,
    imports,
    jobs,
    reparse,
    search,
    suggestions,
    tus,
)

_v1 = APIRouter(prefix="/api/v1")
for part in (
    imports,
    reparse,
    tus,
    conversations,
    artifacts,
    search,
    suggestions,
    documents,
    export,
    jobs,
):
    _v1.include_router(part.router)

router = APIRouter()
router.include_router(health.router)
router.include_router(_v1)
