"""Redirect URIs: which may be registered, and which match a registered one."""

import re
from urllib.parse import urlencode, urlsplit

from api.oauth.errors import OAuthError

_MAX_LENGTH = 2000
_MAX_COUNT = 20
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# Schemes that run code, read local files or leave the browser's hands.
_DENIED_SCHEMES = frozenset(
    {
        "about",
        "blob",
        "chrome",
        "chrome-extension",
        "data",
        "file",
        "filesystem",
        "ftp",
        "intent",
        "jar",
        "javascript",
        "mailto",
        "ms-appx",
        "resource",
        "sms",
        "tel",
        "vbscript",
        "view-source",
        "ws",
        "wss",
    }
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.IGNORECASE)
_ALLOWED = re.compile(r"[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%]+")


def check_redirect_uris(uris: object) -> list[str]:
    """Raises OAuthError `invalid_redirect_uri` (RFC 7591 §3.2.2) unless all may be registered."""
    if not isinstance(uris, list) or not uris or len(uris) > _MAX_COUNT:
        raise _refused(f"redirect_uris must be a list of 1 to {_MAX_COUNT} addresses")
    for uri in uris:
        if not isinstance(uri, str):
            raise _refused("each redirect URI must be a string")
        problem = redirect_problem(uri)
        if problem:
            raise _refused(f"{uri[:200]!r} cannot be used: {problem}")
    return list(uris)


def _refused(description: str) -> OAuthError:
    return OAuthError("invalid_redirect_uri", description)


def redirect_problem(uri: str) -> str | None:
    """Why an address cannot be redirected to, or None when it can.

    Allowed: https, http on loopback (RFC 8252 §7.3), and private-use schemes (§7.1), with or
    without a dot in their names, since `cursor://` and `vscode://` are what clients register.
    """
    if len(uri) > _MAX_LENGTH:
        return f"it is longer than {_MAX_LENGTH} characters"
    if not _ALLOWED.fullmatch(uri):
        return "it has characters that no address has, a fragment or a wildcard"
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return "it is not an address"
    if not parts.scheme or not _SCHEME.fullmatch(parts.scheme):
        return "it has no scheme"
    if parts.username is not None or "@" in parts.netloc:
        return "it has a user name in it"
    if "*" in parts.netloc:
        return "it has a wildcard in it"
    return _scheme_problem(parts.scheme.lower(), parts.hostname or "", parts.netloc, uri)


def _scheme_problem(scheme: str, host: str, netloc: str, uri: str) -> str | None:
    if scheme in _DENIED_SCHEMES:
        return f"the scheme {scheme} is not allowed"
    if scheme == "https":
        return None if host and "%" not in netloc else "it has no host"
    if scheme == "http":
        return None if host in _LOOPBACK else "http is for loopback addresses only; use https"
    # RFC 8252 §7.1 private-use schemes: `scheme://…` or `scheme:/…`, never `scheme:text`.
    return None if uri[len(scheme) + 1 :].startswith("/") else "it has no path"


def is_loopback(uri: str) -> bool:
    parts = urlsplit(uri)
    return parts.scheme.lower() == "http" and (parts.hostname or "") in _LOOPBACK


def is_native(uri: str) -> bool:
    """Whether the address leads to an app on the person's own machine."""
    return is_loopback(uri) or urlsplit(uri).scheme.lower() != "https"


def matches(registered: str, requested: str) -> bool:
    """Equal byte for byte (RFC 9700 §2.1), except the port of a loopback address, which the
    system hands out anew at each sign-in (RFC 8252 §7.3). `localhost` is not `127.0.0.1`."""
    if registered == requested:
        return True
    if redirect_problem(requested) or not (is_loopback(registered) and is_loopback(requested)):
        return False
    return _without_port(registered) == _without_port(requested)


def _without_port(uri: str) -> str:
    parts = urlsplit(uri)
    authority_end = uri.index("//") + 2 + len(parts.netloc)
    host = parts.netloc.rsplit(":", 1)[0] if parts.port is not None else parts.netloc
    host = host.removesuffix(":") if not host.endswith("]") else host
    return f"{uri[: uri.index('//') + 2]}{host}{uri[authority_end:]}"


def shown_host(uri: str) -> str:
    """What the consent page shows of where the person will be sent."""
    parts = urlsplit(uri)
    if parts.scheme.lower() in {"http", "https"}:
        return parts.netloc
    return f"{parts.scheme}: (an app on this device)"


def with_params(uri: str, params: dict[str, str]) -> str:
    """The address with parameters added to its query; what is there stays (RFC 6749 §3.1.2)."""
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(params)}"
