"""Settings, one module for each section. `router` holds them all."""

from fastapi import APIRouter

from api.web.pages.settings import (
    passkeys,
    people,
    profile,
    search_index,
    security,
    sessions,
    tokens,
    usage,
)

router = APIRouter(include_in_schema=False)
for part in (profile, security, passkeys, sessions, tokens, usage, people, search_index):
    router.include_router(part.router)
