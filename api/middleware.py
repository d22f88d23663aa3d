"""What happens to every request before a route sees it, and to every response after.

All plain ASGI: nothing here buffers a body. `api/app.py` fixes the order.
"""

import re

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.accounts.csrf import FORM_COOKIE_STATE, form_cookie
from api.origins import is_own_host
from api.web.templating import templates
from backread.crypto import new_token
from backread.identity import new_id
from backread.settings import Settings

_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")

# Remote images and frames are off: a recalled chat may hold links that leak or track.
PAGE_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
FORM_CSP = f"{PAGE_CSP}; form-action 'self'"

# Bodies of these are streamed to disk by their routes.
UPLOAD_PATHS = frozenset({"/api/v1/imports", "/api/v1/files"})
UPLOADS_PREFIX = "/api/v1/uploads/"

_CORS_PATHS = frozenset({"/token", "/register", "/revoke", "/mcp", "/mcp/"})
_CORS_PREFIXES = ("/.well-known/", "/register/", "/api/mcp/", "/mcp/memories")
_CORS_HEADERS = frozenset(
    {
        "authorization",
        "content-type",
        "accept",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
    }
)
_CORS_EXPOSED = "WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version, X-Request-ID"
_CORS_METHODS = "GET, POST, DELETE, OPTIONS"

_SMALL_BODY = 64 * 1024  # registration, token and forms
_JSON_BODY = 4 * 1024**2
_LARGER_BODIES = ("/api/", "/mcp", "/notes/")
_UPLOAD_OVERHEAD = 1024**2


class RequestId:
    """Gives each request an id: in the log, in the `X-Request-ID` header and in error bodies."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else new_id()
        scope.setdefault("state", {})["request_id"] = request_id

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self.app(scope, receive, stamped)


class HostGuard:
    """Refuses requests under a name that is not this server's (DNS rebinding).

    421 for a foreign name (RFC 9110 §15.5.20), 400 when there is none. Whoever asks for HTML gets
    a page, everybody else a line of text.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")
        if host and is_own_host(self.settings, host):
            await self.app(scope, receive, send)
            return
        await self._refusal(host, Headers(scope=scope).get("accept", ""))(scope, receive, send)

    def _refusal(self, host: str, accept: str) -> Response:
        if not host:
            return PlainTextResponse("The request has no Host header.\n", status_code=400)
        if "text/html" in accept:
            nonce = new_token()
            page = templates.get_template("wrong_host.html")
            return HTMLResponse(
                page.render(origin=self.settings.origin, nonce=nonce),
                status_code=421,
                headers={
                    "Content-Security-Policy": f"default-src 'none'; style-src 'nonce-{nonce}'; "
                    "frame-ancestors 'none'; base-uri 'none'",
                    "Cache-Control": "no-store",
                },
            )
        return PlainTextResponse(
            "This server does not answer to the name in the address you used. Open "
            f"{self.settings.origin} instead, or add the name to BACKREAD_ALLOWED_HOSTS.\n",
            status_code=421,
        )


class SecurityHeaders:
    """Headers that every response gets unless its route chose its own."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.is_https = settings.origin.startswith("https://")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add(MutableHeaders(scope=message), scope)
            await send(message)

        await self.app(scope, receive, guarded)

    def _add(self, headers: MutableHeaders, scope: Scope) -> None:
        headers.setdefault("X-Content-Type-Options", "nosniff")
        # Not `no-referrer`: browsers then send `Origin: null` with our own forms.
        headers.setdefault("Referrer-Policy", "same-origin")
        headers.setdefault("X-Frame-Options", "DENY")
        headers.setdefault("Content-Security-Policy", FORM_CSP)
        if self.is_https:
            headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        if headers.get("content-type", "").startswith("text/html"):
            headers.setdefault("Cache-Control", "no-store")
        fresh = scope.get("state", {}).get(FORM_COOKIE_STATE)
        if fresh:
            headers.append("Set-Cookie", form_cookie(self.settings, fresh))


class BodyLimit:
    """Refuses a body over the limit of its path with 413, declared or streamed."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.upload_limit = settings.upload_max_bytes + _UPLOAD_OVERHEAD

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._limit(scope["path"])
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdigit() and int(declared) > limit:
            response = JSONResponse(
                {"error": "invalid_request", "error_description": _too_large(limit)},
                status_code=413,
            )
            await response(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413, _too_large(limit))
            return message

        await self.app(scope, counted, send)

    def _limit(self, path: str) -> int:
        if path in UPLOAD_PATHS or path.startswith(UPLOADS_PREFIX):
            return self.upload_limit
        # Other bodies are held in memory, and read before anybody is authenticated.
        return _JSON_BODY if path.startswith(_LARGER_BODIES) else _SMALL_BODY


def _too_large(limit: int) -> str:
    return f"The request body is larger than the {limit} bytes that this address accepts."


class PublicCors:
    """Lets browser-based clients reach the endpoints that use no cookies: metadata, token,
    registration, revocation and MCP. Any origin, never with credentials. Everything else,
    the consent page above all, gets no CORS header at all."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_public(scope["path"]):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["method"] == "OPTIONS":
            await _preflight(headers)(scope, receive, send)
            return

        async def opened(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                answer["Access-Control-Allow-Origin"] = "*"
                answer["Access-Control-Expose-Headers"] = _CORS_EXPOSED
            await send(message)

        await self.app(scope, receive, opened)


def _is_public(path: str) -> bool:
    return path in _CORS_PATHS or path.startswith(_CORS_PREFIXES)


def _preflight(headers: Headers) -> Response:
    """Answered before authentication: browsers send preflights without credentials."""
    wanted = headers.get("access-control-request-headers", "")
    names = {name.strip().lower() for name in wanted.split(",") if name.strip()}
    granted = _CORS_HEADERS | {name for name in names if re.fullmatch(r"mcp-param-[\w-]+", name)}
    return Response(
        status_code=204,
        headers={
            "Allow": _CORS_METHODS,
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": _CORS_METHODS,
            "Access-Control-Allow-Headers": ", ".join(sorted(granted)),
            "Access-Control-Max-Age": "86400",
        },
    )
