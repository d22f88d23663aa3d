"""Which Host and Origin headers this server answers to.

A page on another site can make a browser call a server on the user's own machine under a name
that the site controls (DNS rebinding). Names are therefore checked against a list: the public
origin's host, loopback, and `allowed_hosts`.
"""

from functools import lru_cache
from urllib.parse import urlsplit

from backread.settings import LOOPBACK_HOSTS, Settings


@lru_cache(maxsize=8)
def _names(origin: str, allowed_hosts: str) -> frozenset[str]:
    public = urlsplit(origin).hostname or ""
    further = {name.strip().lower() for name in allowed_hosts.split(",") if name.strip()}
    return LOOPBACK_HOSTS | {public} | {_host_name(name) or name for name in further}


def _host_name(authority: str) -> str | None:
    """`Example.org:443` -> `example.org`; None when it is not a host at all."""
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port  # raises on a port that is no number
    except ValueError:
        return None
    if parts.path or parts.query or parts.fragment or "@" in authority:
        return None
    return parts.hostname


def is_own_host(settings: Settings, host_header: str) -> bool:
    """Whether a Host header names this server, on any port."""
    name = _host_name(host_header)
    return name is not None and name in _names(settings.origin, settings.allowed_hosts)


def is_known_origin(settings: Settings, origin: str) -> bool:
    """Whether an Origin header is one of ours, on any port. `null` never is."""
    authority = _web_authority(origin)
    return authority is not None and is_own_host(settings, authority)


def is_same_origin(settings: Settings, origin: str, host_header: str) -> bool:
    """Whether a form was sent from a page of this very server.

    Behind a TLS proxy the Host header may be an inner name, so the public origin counts too.
    """
    if origin == settings.origin:
        return True
    authority = _web_authority(origin)
    return authority is not None and authority.lower() == host_header.lower()


def _web_authority(origin: str) -> str | None:
    """`http://Example.org:1` -> `Example.org:1`; None for what is no origin of a web page."""
    try:
        parts = urlsplit(origin)
    except ValueError:  # such as an open bracket, which begins an IPv6 address
        return None
    return parts.netloc if parts.scheme in {"http", "https"} else None
