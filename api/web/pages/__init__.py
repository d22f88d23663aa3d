"""The web app's pages, one module for each place. `router` holds them all."""

from fastapi import APIRouter

from api.web import assets
from api.web.pages import (
    artifacts,
    connections,
    conversations,
    entry,
    files,
    home,
    imports,
    join,
    reader,
    review,
    search,
    settings,
    signing_in,
)

router = APIRouter(include_in_schema=False)
for part in (
    assets,
    entry,
    signing_in,
    join,
    home,
    imports,
    conversations,
    reader,
    artifacts,
    search,
    review,
    files,
    connections,
    settings,
):
    router.include_router(part.router)
