import pytest
from starlette.requests import Request

from api.client_address import address_of
from backread.settings import Settings


def request(peer: str, *forwarded: str) -> Request:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope = {"type": "http", "headers": headers, "client": (peer, 1) if peer else None}
    return Request(scope)


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("203.0.113.5", [], "203.0.113.5"),
        ("203.0.113.5", ["198.51.100.1"], "203.0.113.5"),  # a stranger's word is not taken
        ("127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("::1", ["2001:db8::7"], "2001:db8::7"),
        ("127.0.0.1", ["[2001:db8::7]:4711"], "2001:db8::7"),
        ("127.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("127.0.0.1", ["6.6.6.6, 198.51.100.1"], "198.51.100.1"),  # what the client sent itself
        ("127.0.0.1", ["6.6.6.6", "198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1", ["198.51.100.1, 127.0.0.1"], "198.51.100.1"),
        ("127.0.0.1", ["not an address"], "127.0.0.1"),
        ("127.0.0.1", ["198.51.100.1, unknown"], "127.0.0.1"),
        ("::ffff:127.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1", [""], "127.0.0.1"),
        ("", ["198.51.100.1"], ""),
        ("testclient", ["198.51.100.1"], "testclient"),
    ],
)
def test_a_client_is_known_by_the_last_address_that_no_trusted_proxy_has(
    peer: str, forwarded: list[str], expected: str
) -> None:
    assert address_of(request(peer, *forwarded), Settings()) == expected


def test_other_proxies_are_trusted_when_they_are_named() -> None:
    settings = Settings(trusted_proxies="172.16.0.0/12, 2001:db8:f::/48")
    assert address_of(request("172.18.0.2", "198.51.100.1"), settings) == "198.51.100.1"
    assert address_of(request("127.0.0.1", "198.51.100.1"), settings) == "127.0.0.1"
    with pytest.raises(ValueError, match="does not appear"):
        Settings(trusted_proxies="caddy")
