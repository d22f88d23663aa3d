"""The web app's pages, one module for each place. `router` holds them all."""

from fastapi import APIRouter

from api.web import assets
from api.web.pages import (
    account,
    connections,
    conversations,
    entry,
    home,
    imports,
    reader,
    search,
)

router = APIRouter(include_in_schema=False)
for part in (assets, entry, home, imports, conversations, reader, search, connections, account):
    router.include_router(part.router)
