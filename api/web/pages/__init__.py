"""The web app's pages, one module for each place. `router` holds them all."""

from fastapi import APIRouter

from api.web import assets
from api.web.pages import (
    activity,
    artifacts,
    categories,
    connections,
    conversations,
    deleting,
    entry,
    file_changes,
    file_viewer,
    files,
    folders,
    home,
    imports,
    join,
    memories,
    notes,
    overview,
    reader,
    records,
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
    deleting,
    artifacts,
    search,
    memories,
    categories,
    review,
    notes,
    files,
    file_viewer,
    file_changes,
    folders,
    records,
    overview,
    connections,
    activity,
    settings,
):
    router.include_router(part.router)
