"""Fetches one small document from the public internet, and from nowhere else.

The address comes from a stranger, so it must not become a way to reach what only this server can
reach (SSRF). A name is resolved once, every address it has must be public, and the connection
goes to one of those addresses, so that a second answer of the name server changes nothing.
Redirects are not followed, nothing that identifies this server is sent, and time and size are
bounded.
"""

import socket
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

import anyio
import httpcore

from backread import __version__
from backread.log import get_logger

MAX_BYTES = 64 * 1024
MAX_SECONDS = 5.0
MAX_URL = 512  # what the column of client ids holds

# All that IANA has given out of IPv6 for the internet. What lies outside is special, or leads to
# IPv4 addresses (NAT64, mapped, compatible, translated).
_IPV6_INTERNET = ip_network("2000::/3")
# Not public in effect, whatever `is_global` says: they lead to IPv4 addresses inside IPv6 ones
# (6to4, Teredo), to special registries and examples, or to a cloud's own services.
_NOT_PUBLIC = tuple(
    ip_network(each)
    for each in (
        "2001::/32",
        "2002::/16",
        "3fff::/20",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "168.63.129.16/32",
    )
)

_log = get_logger("api.oauth")


class FetchFailed(Exception):
    """The document could not be had. The text says no more than a stranger may know."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document that came with status 200. Header names are lower case."""

    body: bytes
    headers: Mapping[str, str]


def is_public_address(text: str) -> bool:
    """Whether an IP address is one that anybody on the internet could reach just as well."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if not address.is_global or address.is_multicast:
        return False
    if address.version == 6 and address not in _IPV6_INTERNET:
        return False
    return not any(address in each for each in _NOT_PUBLIC if each.version == address.version)


def url_problem(url: str) -> str | None:
    """Why an address is not fetched, or None. Its spelling alone is looked at.

    https, a host and a path; no fragment, user name or dot segments
    (draft-ietf-oauth-client-id-metadata-document §3).
    """
    if len(url) > MAX_URL:
        return f"it is longer than {MAX_URL} characters"
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return "it has characters that no address has"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "it is not an address"
    if parts.scheme != "https" or not url.startswith("https://"):
        return "it does not begin with https://"
    if not parts.hostname or parts.hostname.startswith("."):
        return "it has no host"
    if parts.username is not None or "@" in parts.netloc:
        return "it has a user name in it"
    if "#" in url:
        return "it has a fragment"
    if parts.path in {"", "/"}:
        return "it has no path"
    segments = parts.path.lower().replace("%2e", ".").split("/")
    return "it has dot segments" if {".", ".."} & set(segments) else None


Resolve = Callable[[str, int], Sequence[str]]


def _resolve(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class GuardedFetcher:
    """Fetches documents. What it asks a name server and what counts as public can be replaced,
    for tests that have no internet."""

    def __init__(
        self,
        *,
        resolve: Resolve = _resolve,
        is_public: Callable[[str], bool] = is_public_address,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._backend = _GuardedBackend(resolve, is_public)
        self._ssl_context = ssl_context

    async def fetch_json(self, url: str) -> Fetched:
        """The document at `url`, which has content type JSON. Raises FetchFailed."""
        problem = url_problem(url)
        if problem:
            raise FetchFailed(problem)
        try:
            with anyio.fail_after(MAX_SECONDS):
                return await self._fetch(url)
        except TimeoutError as error:
            raise FetchFailed("its server did not answer in time") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            _log.info("client_document_not_fetched", url=url, reason=str(error)[:200])
            raise FetchFailed("its server could not be reached") from error

    async def _fetch(self, url: str) -> Fetched:
        headers: dict[bytes | str, bytes | str] = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"Backread/{__version__}",
        }
        async with (
            httpcore.AsyncConnectionPool(
                ssl_context=self._ssl_context, network_backend=self._backend
            ) as pool,
            pool.stream("GET", url, headers=headers) as response,
        ):
            received = _lower(response.headers)
            _check_answer(response.status, received)
            body = b""
            async for chunk in response.aiter_stream():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise FetchFailed(f"it is larger than {MAX_BYTES // 1024} KB")
        return Fetched(body, received)


def _lower(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _check_answer(status: int, headers: Mapping[str, str]) -> None:
    if status != 200:
        raise FetchFailed(f"its server answered with status {status}")
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise FetchFailed("it is not JSON by its content type")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise FetchFailed("it came compressed, which was not asked for")


class _GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to public addresses only, and to the very one that was checked."""

    def __init__(self, resolve: Resolve, is_public: Callable[[str], bool]) -> None:
        self._resolve = resolve
        self._is_public = is_public
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface of httpcore
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            addresses = await anyio.to_thread.run_sync(
                self._resolve, host, port, abandon_on_cancel=True
            )
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError("the name cannot be resolved") from error
        if not addresses or not all(self._is_public(address) for address in addresses):
            raise httpcore.ConnectError("not a public address")
        return await self._network.connect_tcp(
            addresses[0], port, timeout, local_address, socket_options
        )

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface of httpcore
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.ConnectError("not a public address")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)
