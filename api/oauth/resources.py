"""The protected resources (RFC 8707, RFC 9728) and every address that names them.

All are plain strings built from the configured origin, never from a request's Host header and
never by a URL type that would add a slash: clients compare them byte for byte.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from api.oauth.scopes import ALL_SCOPES
from backread.domain import Scope
from backread.settings import Settings

RECALL_PATH = "/api/mcp/mcp"
SSE_PATH = "/api/mcp/sse"
MESSAGES_PATH = "/api/mcp/messages"
NOTES_PATH = "/mcp"
FOLDER_PATH = "/mcp/memories"  # by access keys, so no protected resource of this server
PRM_PATH = "/.well-known/oauth-protected-resource"
AS_METADATA_PATH = "/.well-known/oauth-authorization-server"
OIDC_METADATA_PATH = "/.well-known/openid-configuration"

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Resource:
    """One MCP server. `paths` are all addresses of it, the first one names it. Tokens are good
    for one resource and its `scopes` only."""

    title: str
    paths: tuple[str, ...]
    scopes: tuple[Scope, ...]


RECALL = Resource("Backread", (RECALL_PATH, SSE_PATH), ALL_SCOPES)
NOTES = Resource("Backread notes", (NOTES_PATH,), (Scope.MEMORY_READ, Scope.MEMORY_WRITE))
RESOURCES = (RECALL, NOTES)
RESOURCE_PATHS = tuple(path for resource in RESOURCES for path in resource.paths)


def issuer(settings: Settings) -> str:
    """The authorization server's identifier: the bare origin, without a slash (RFC 8414 §2)."""
    return settings.origin


def recall_resource(settings: Settings) -> str:
    """The recall MCP server's identifier: the address of its Streamable HTTP transport. Grants
    are for it, whichever of the server's addresses the client named."""
    return settings.origin + RECALL_PATH


def notes_resource(settings: Settings) -> str:
    """The notes MCP server's identifier: its address."""
    return settings.origin + NOTES_PATH


def resource_at(path: str) -> Resource:
    """The server that an address belongs to."""
    return next(each for each in RESOURCES if path in each.paths)


def identifier(settings: Settings, resource: Resource) -> str:
    """What tokens for the server are issued for."""
    return settings.origin + resource.paths[0]


def resource_of(named: str) -> Resource:
    """The server with this identifier. What a grant of earlier times names, which may have had
    another origin, is known by its path; all else is taken for recall."""
    path = urlsplit(named).path
    return next((each for each in RESOURCES if path == each.paths[0]), RECALL)


def metadata_url(settings: Settings, path: str) -> str:
    """Where the 401 challenge of an address points: the path-inserted form of RFC 9728 §3.1."""
    return settings.origin + PRM_PATH + path


def known_resource(settings: Settings, value: str) -> str | None:
    """The identifier of the server whose address a client named, or None when it is not ours.

    Both transports of recall are one server, so a client may change between them without a new
    sign-in.
    Accepts what means the same address: a slash at the end, upper case in scheme or host, the
    default port written out (RFC 3986 §6.2).
    """
    named = _normal(value)
    for resource in RESOURCES:
        if any(_normal(settings.origin + path) == named for path in resource.paths):
            return identifier(settings, resource)
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
