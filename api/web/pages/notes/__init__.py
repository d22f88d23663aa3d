"""Notes, one module for each task. `router` holds them all."""

from fastapi import APIRouter

from api.web.pages.notes import browsing, changing, editing, history

router = APIRouter(include_in_schema=False)
# `browsing` last: its path takes whatever the others have no page for.
for part in (editing, history, changing, browsing):
    router.include_router(part.router)
