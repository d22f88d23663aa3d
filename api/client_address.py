"""Who is at the other end of a request: the peer, or whom a trusted proxy speaks for.

Sign-in tries are counted by this address. Behind a proxy whose word is not taken, everybody would
share one count, and a stranger could use up the owner's tries.
"""

import ipaddress
from functools import lru_cache

from starlette.requests import HTTPConnection

from backread.settings import Settings

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def address_of(connection: HTTPConnection, settings: Settings) -> str:
    """The client's address. Of X-Forwarded-For only the end counts that trusted proxies wrote:
    anybody can send the header with whatever they like before it."""
    peer = connection.client.host if connection.client else ""
    trusted = _networks(settings.trusted_proxies)
    hops = ",".join(connection.headers.getlist("x-forwarded-for")).split(",")
    found = _parsed(peer)
    while hops and found is not None and any(found in network for network in trusted):
        before = _parsed(hops.pop().strip())
        if before is None:
            break
        found = before
    return str(found) if found is not None else peer


@lru_cache(maxsize=8)
def _networks(trusted_proxies: str) -> tuple[_Network, ...]:
    parts = (part.strip() for part in trusted_proxies.split(","))
    return tuple(ipaddress.ip_network(part, strict=False) for part in parts if part)


def _parsed(text: str) -> _Address | None:
    """The address in `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1` and `[2001:db8::1]:443`."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
