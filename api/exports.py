"""`/exports/<token>`: hands out one conversation to whoever has the token, for fifteen minutes.

Wrong, ended, used up and deleted look alike. A range is answered with the whole file, which is
written while it is sent and whose length nobody knows beforehand; RFC 9110 §14.2 lets a server
pass a range over, and `Accept-Ranges: none` says so. `HEAD` counts as no download.
"""

from collections.abc import Callable
from datetime import datetime

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from api.deps import ClientAddressDep, KernelDep
from api.token_buckets import TokenBuckets
from backread.store.base import utcnow
from recall.exporting import EXPORTS_PREFIX, exported, look_at_export, open_export

router = APIRouter(include_in_schema=False)

_BURST = 30
_SECONDS_EACH = 2.0
_LONGEST_TOKEN = 64
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Accept-Ranges": "none",
}


class ExportDoor:
    """How often an address may ask, and what time it is. One for each application."""

    def __init__(self, clock: Callable[[], datetime] = utcnow) -> None:
        self.clock = clock
        self.rates = TokenBuckets(_BURST, _SECONDS_EACH)


@router.api_route(EXPORTS_PREFIX + "{token}", methods=["GET", "HEAD"])
def get_export(
    request: Request, kernel: KernelDep, address: ClientAddressDep, token: str
) -> Response:
    door: ExportDoor = request.app.state.export_door
    wait = door.rates.take(address)
    if wait:
        return _refused(429, "rate_limited", "Too many requests.", {"Retry-After": str(wait)})
    if len(token) > _LONGEST_TOKEN:
        return _not_found()
    is_head = request.method == "HEAD"
    export = (look_at_export if is_head else open_export)(kernel, token, now=door.clock())
    if export is None:
        return _not_found()
    headers = {
        **_HEADERS,
        "Content-Disposition": f'attachment; filename="conversation-{export.conversation_id}.json"',
    }
    if is_head:
        return Response(headers=headers, media_type="application/json")
    return StreamingResponse(
        exported(kernel, export), headers=headers, media_type="application/json"
    )


def _not_found() -> Response:
    return _refused(404, "not_found", "There is no such export, or it has ended.", {})


def _refused(status: int, code: str, message: str, more: dict[str, str]) -> Response:
    return JSONResponse(
        {"error": code, "message": message}, status_code=status, headers=_HEADERS | more
    )
