"""Settings, one module for each section. `router` holds them all."""

from fastapi import APIRouter

from api.web.pages.settings import passkeys, people, profile, security, sessions, tokens

router = APIRouter(include_in_schema=False)
for part in (profile, security, passkeys, sessions, tokens, people):
    router.include_router(part.router)
