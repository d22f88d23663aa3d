"""The HTTP side of the recall MCP server: who may call, and how answers are written.

Stateless in every protocol era: no session is kept, so any process can answer any request and a
restart loses nothing. Tokens are checked on each request, whatever it asks for.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyio import to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from api.mcp_server.server import RecallServer
from api.oauth import resources
from api.oauth.scopes import ALL_SCOPES, scope_string
from api.oauth.tokens import verify_bearer
from api.origins import is_known_origin
from backread.domain import Principal
from backread.kernel import Kernel
from backread.settings import Settings

_JSON, _SSE = "application/json", "text/event-stream"
_VERSION_HEADER = "mcp-protocol-version"
_SESSION_HEADER = "mcp-session-id"


class RecallEndpoint:
    """An ASGI application for the exact addresses of the MCP server, with and without slash."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._server = RecallServer(kernel)
        # Host and Origin are checked by `api.middleware.HostGuard` and below.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server = self._server.build()
        self._json, self._sse = (
            StreamableHTTPSessionManager(
                server, json_response=is_json, stateless=True, security_settings=security
            )
            for is_json in (True, False)
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves while the block runs. Once per instance."""
        async with self._json.run(), self._sse.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._refusal(request)
        if response is not None:
            await response(scope, receive, send)
            return
        body = await request.body()
        message = _decoded(body)
        missing = self._missing_scope(message, request.state.principal)
        if missing is not None:
            await missing(scope, receive, send)
            return
        accepted = _accepted(request.headers)
        if accepted is None:
            await _not_acceptable()(scope, receive, send)
            return
        manager = self._json if accepted == _JSON else self._sse
        replay = _replay(body, receive)
        await manager.handle_request(_prepared(scope, message), replay, _streaming(send))

    async def _refusal(self, request: Request) -> Response | None:
        """Why the request goes no further, or None. Puts the principal into the state."""
        settings = self._kernel.settings
        origin = request.headers.get("origin")
        if origin is not None and not is_known_origin(settings, origin):
            return _error(403, "forbidden_origin", f"requests from {origin[:100]} are not allowed")
        token = _bearer(request.headers)
        if token is None:
            return challenge(settings)
        principal = await to_thread.run_sync(
            verify_bearer, self._kernel, token, resources.recall_resource(settings)
        )
        if principal is None:
            return challenge(settings, error="invalid_token")
        request.state.principal = principal
        if request.method != "POST":
            # Only after authentication: a 405 before it makes clients think none is needed.
            return Response(status_code=405, headers={"Allow": "POST, OPTIONS"})
        return None

    def _missing_scope(self, message: Any, principal: Principal) -> Response | None:
        """A 403 that names every scope the client should ask for (RFC 6750 §3.1)."""
        if not isinstance(message, dict) or message.get("method") != "tools/call":
            return None
        params = message.get("params")
        name = params.get("name") if isinstance(params, dict) else None
        tool = self._server.tool(name) if isinstance(name, str) else None
        if tool is None or tool.scope in principal.scopes:
            return None
        wanted = scope_string({*principal.scopes, tool.scope})
        return _challenge(
            self._kernel.settings,
            403,
            "insufficient_scope",
            f"{tool.name} needs the permission {tool.scope.value}",
            wanted,
        )


def challenge(settings: Settings, error: str | None = None) -> Response:
    """401 with where to find the authorization server (RFC 9728 §5.1) and all scopes."""
    description = (
        "the access token is not valid here; refresh it or sign in again"
        if error
        else "sign in to get an access token"
    )
    return _challenge(settings, 401, error, description, scope_string(ALL_SCOPES))


def _challenge(
    settings: Settings, status: int, error: str | None, description: str, scope: str
) -> Response:
    fields = {"error": error, "error_description": description} if error else {}
    fields |= {"resource_metadata": resources.recall_metadata_url(settings), "scope": scope}
    header = "Bearer " + ", ".join(f'{name}="{value}"' for name, value in fields.items())
    response = _error(status, error or "unauthorized", description)
    response.headers["WWW-Authenticate"] = header
    return response


def _error(status: int, code: str, description: str) -> Response:
    return JSONResponse(
        {"error": code, "error_description": description},
        status_code=status,
        headers={"Cache-Control": "no-store"},
    )


def _not_acceptable() -> Response:
    return _error(406, "not_acceptable", f"accept {_JSON} or {_SSE}")


def _bearer(headers: Headers) -> str | None:
    """RFC 6750 §2.1. Tokens in the query or the body are never looked at."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token else None


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None  # the transport answers malformed JSON


def _accepted(headers: Headers) -> str | None:
    """JSON unless only SSE is accepted; None when neither is. Clients send `*/*`, one of the
    two, or nothing, all of which the specification's letter would refuse."""
    ranges = [
        part.split(";")[0].strip().lower() for part in headers.get("accept", "*/*").split(",")
    ]
    if any(item in {_JSON, "application/*", "*/*", ""} for item in ranges):
        return _JSON
    return _SSE if any(item in {_SSE, "text/*"} for item in ranges) else None


def _prepared(scope: Scope, message: Any) -> Scope:
    """The request as the transport wants it: both types accepted; no session id, since there are
    no sessions and a stale one must do no harm; and `initialize` without a version header that
    only its body may negotiate."""
    is_initialize = isinstance(message, dict) and message.get("method") == "initialize"
    headers = []
    for name, value in scope["headers"]:
        text = name.decode("latin-1")
        if text in {"accept", _SESSION_HEADER}:
            continue
        is_unknown = value.decode("latin-1") not in HANDSHAKE_PROTOCOL_VERSIONS
        if text == _VERSION_HEADER and is_initialize and is_unknown:
            continue
        headers.append((name, value))
    headers.append((b"accept", f"{_JSON}, {_SSE}".encode()))
    return {**scope, "headers": headers}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives the body, which was read for its method, once more; then what really comes."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _streaming(send: Send) -> Send:
    """Tells proxies to keep nothing and to pass streams on at once."""

    async def unbuffered(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [item for item in message["headers"] if item[0].lower() != b"cache-control"]
            own = [(b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]
            names = {name.lower() for name, _ in kept}
            message["headers"] = kept + [item for item in own if item[0] not in names]
        await send(message)

    return unbuffered
