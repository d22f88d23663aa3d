"""The protected resources (RFC 8707, RFC 9728) and every address that names them.

All are plain strings built from the configured origin, never from a request's Host header and
never by a URL type that would add a slash: clients compare them byte for byte.
"""

from urllib.parse import urlsplit

from backread.settings import Settings

RECALL_PATH = "/api/mcp/mcp"
SSE_PATH = "/api/mcp/sse"
MESSAGES_PATH = "/api/mcp/messages"
RESOURCE_PATHS = (RECALL_PATH, SSE_PATH)
PRM_PATH = "/.well-known/oauth-protected-resource"
AS_METADATA_PATH = "/.well-known/oauth-authorization-server"
OIDC_METADATA_PATH = "/.well-known/openid-configuration"

_DEFAULT_PORTS = {"http": 80, "https": 443}


def issuer(settings: Settings) -> str:
    """The authorization server's identifier: the bare origin, without a slash (RFC 8414 §2)."""
    return settings.origin


def recall_resource(settings: Settings) -> str:
    """The recall MCP server's identifier: the address of its Streamable HTTP transport. Grants
    are for it, whichever of the server's addresses the client named."""
    return settings.origin + RECALL_PATH


def metadata_url(settings: Settings, path: str) -> str:
    """Where the 401 challenge of an address points: the path-inserted form of RFC 9728 §3.1."""
    return settings.origin + PRM_PATH + path


def known_resource(settings: Settings, value: str) -> str | None:
    """The identifier of the server whose address a client named, or None when it is not ours.

    Both transports are one server, so a client may change between them without a new sign-in.
    Accepts what means the same address: a slash at the end, upper case in scheme or host, the
    default port written out (RFC 3986 §6.2).
    """
    named = _normal(value)
    if any(_normal(settings.origin + path) == named for path in RESOURCE_PATHS):
        return recall_resource(settings)
    return None


def _normal(url: str) -> tuple[str, str, int | None, str] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.query or parts.fragment or "#" in url or parts.username is not None:
        return None
    path = parts.path.removesuffix("/")
    return parts.scheme, parts.hostname or "", port or _DEFAULT_PORTS.get(parts.scheme), path
