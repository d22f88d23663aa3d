"""Who may call an MCP server, and how a refusal reads.

Every request is checked, whatever it asks for and whatever stream or session it names.
"""

from contextlib import suppress

import anyio
from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Send

from api.mcp_server.prompt import Prompt
from api.mcp_server.resource import ResourceKind
from api.mcp_server.tool import Tool
from api.oauth import resources
from api.oauth.scopes import scope_string
from api.oauth.tokens import verify_bearer
from api.origins import is_known_origin
from backread.domain import Principal
from backread.kernel import Kernel
from backread.settings import Settings

_REST_SECONDS = 2.0  # for what a refused request still sends; it is not kept


async def refusal(kernel: Kernel, request: Request, resource_path: str) -> Response | None:
    """Why the request goes no further, or None. Puts the principal into the request's state.

    `resource_path` is the address whose metadata the challenge names.
    """
    settings = kernel.settings
    origin = request.headers.get("origin")
    if origin is not None and not is_known_origin(settings, origin):
        return error(403, "forbidden_origin", f"requests from {origin[:100]} are not allowed")
    token = bearer(request.headers)
    if token is None:
        return challenge(settings, resource_path)
    resource = resources.identifier(settings, resources.resource_at(resource_path))
    principal = await to_thread.run_sync(verify_bearer, kernel, token, resource)
    if principal is None:
        return challenge(settings, resource_path, code="invalid_token")
    request.state.principal = principal
    return None


async def refuse(request: Request, response: Response, send: Send) -> None:
    """Sends a refusal once all of the request has come. Proxies lose an answer that comes, and
    ends its connection, while they are still sending (Caddy 2.6 does)."""
    with anyio.move_on_after(_REST_SECONDS), suppress(ClientDisconnect):
        async for _ in request.stream():
            pass
    await response(request.scope, request.receive, send)


def challenge(settings: Settings, resource_path: str, code: str | None = None) -> Response:
    """401 with where to find the authorization server (RFC 9728 §5.1) and all scopes."""
    description = (
        "the access token is not valid here; refresh it or sign in again"
        if code
        else "sign in to get an access token"
    )
    scopes = scope_string(resources.resource_at(resource_path).scopes)
    return _challenge(settings, resource_path, 401, code, description, scopes)


def missing_scope(
    settings: Settings,
    request: Request,
    resource_path: str,
    wanted: Tool | Prompt | ResourceKind | None,
) -> Response | None:
    """Why a request for something goes no further, before any transport has begun an answer; or
    None, also when nothing that needs a permission is asked for."""
    principal: Principal = request.state.principal
    if wanted is None or wanted.scope in principal.scopes:
        return None
    return insufficient_scope(settings, resource_path, wanted, principal)


def insufficient_scope(
    settings: Settings,
    resource_path: str,
    wanted: Tool | Prompt | ResourceKind,
    principal: Principal,
) -> Response:
    """A 403 that names every scope the client should ask for (RFC 6750 §3.1)."""
    return _challenge(
        settings,
        resource_path,
        403,
        "insufficient_scope",
        f"{wanted.name} needs the permission {wanted.scope.value}",
        scope_string({*principal.scopes, wanted.scope}),
    )


def _challenge(
    settings: Settings, path: str, status: int, code: str | None, description: str, scope: str
) -> Response:
    fields = {"error": code, "error_description": description} if code else {}
    fields |= {"resource_metadata": resources.metadata_url(settings, path), "scope": scope}
    header = "Bearer " + ", ".join(f'{name}="{value}"' for name, value in fields.items())
    response = error(status, code or "unauthorized", description)
    response.headers["WWW-Authenticate"] = header
    return response


def error(status: int, code: str, description: str) -> Response:
    """A refusal in the form of RFC 6749 §5.2, which all clients can read."""
    return JSONResponse(
        {"error": code, "error_description": description},
        status_code=status,
        headers={"Cache-Control": "no-store"},
    )


def bearer(headers: Headers) -> str | None:
    """RFC 6750 §2.1. Tokens in the query or the body are never looked at."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token else None
