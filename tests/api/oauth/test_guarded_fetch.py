"""What a stranger can make this server fetch: documents on the public internet, nothing else."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import httpcore
import pytest

from api.oauth import guarded_fetch
from api.oauth.guarded_fetch import FetchFailed, GuardedFetcher, is_public_address, url_problem
from tests.api.oauth.documents import DocumentServer, document_server

PRIVATE_ADDRESSES = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 127.0.0.1 127.1.2.3 169.254.169.254
169.254.0.1 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.1
192.168.255.255 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1
255.255.255.255 168.63.129.16 :: ::1 ::127.0.0.1 ::10.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1
::ffff:169.254.169.254 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 3fff::1 4000::1 5f00::1
64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::808:808
64:ff9b:1::1 100::1 2001::1 2001:db8::1 2001:10::1 2002:7f00:1:: 2002:a00:1:: 2002:808:808::1
fc00::1 fd00:ec2::254 fd12:3456::1 fe80::1 fe80::1%1 fec0::1 ff02::1 ff0e::1
""".split()  # noqa: SIM905
PUBLIC_ADDRESSES = ["8.8.8.8", "1.1.1.1", "160.79.104.10", "2606:4700::1111", "2a00:1450::1"]

BAD_URLS = [
    "",
    "client.json",
    "http://tool.example/client.json",
    "HTTP://tool.example/client.json",
    "ftp://tool.example/client.json",
    "file:///etc/passwd",
    "gopher://tool.example/_x",
    "data:application/json,{}",
    "javascript:alert(1)",
    "https:tool.example/client.json",
    "https:/tool.example/client.json",
    "https:///client.json",
    "https://.example/client.json",
    "https://",
    "https://tool.example",
    "https://tool.example/",
    "https://user@tool.example/client.json",
    "https://user:pass@tool.example/client.json",
    "https://tool.example@10.0.0.1/client.json",
    "https://tool.example\\@10.0.0.1/client.json",
    "https://tool.example/client.json#part",
    "https://tool.example/client.json#",
    "https://tool.example/a/../client.json",
    "https://tool.example/./client.json",
    "https://tool.example/%2e%2e/client.json",
    "https://tool.example/.%2E/client.json",
    "https://tool.example/ client.json",
    "https://tool.example/client.json\r\nHost: evil",
    "https://tool.example/client.json\x00",
    "https://tool.example:99999/client.json",
    "https://tool.example:port/client.json",
    "https://[::1/client.json",
    "https://tööl.example/client.json",
    "https://tool.example/" + "a" * 600,
]

# Names and spellings that lead a resolver to a private address.
DISGUISES = [
    "localhost",
    "LOCALHOST",
    "localhost.",
    "127.1",
    "127.0.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "2852039166",
    "017700000001",
    "0177.0.0.1",
    "0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::7f00:1]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "10.0.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.100.100.200",
    "168.63.129.16",
]


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where the fetcher opened a connection to. It never gets one."""
    opened: list[str] = []

    async def connect(self: object, host: str, *rest: object, **named: object) -> None:
        opened.append(host)
        raise httpcore.ConnectError("no network in this test")

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    return opened


@pytest.fixture
def documents() -> Iterator[DocumentServer]:
    with document_server() as server:
        yield server


def fetch(fetcher: GuardedFetcher, url: str) -> Any:
    return asyncio.run(fetcher.fetch_json(url))


@pytest.mark.parametrize("address", PRIVATE_ADDRESSES)
def test_an_address_that_only_this_server_can_reach_is_not_public(
    address: str, connections: list[str]
) -> None:
    assert not is_public_address(address)
    with pytest.raises(FetchFailed):
        fetch(GuardedFetcher(resolve=lambda host, port: [address]), "https://tool.example/c.json")
    assert connections == []


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_a_public_address_is_connected_to(address: str, connections: list[str]) -> None:
    with pytest.raises(FetchFailed):
        fetch(GuardedFetcher(resolve=lambda host, port: [address]), "https://tool.example/c.json")
    assert connections == [address]


@pytest.mark.parametrize("text", ["", "tool.example", "8.8.8", "08.8.8.8", "8.8.8.8/32"])
def test_what_is_no_address_is_not_public(text: str) -> None:
    assert not is_public_address(text)


@pytest.mark.parametrize("url", BAD_URLS)
def test_an_address_of_another_form_is_not_fetched(url: str, connections: list[str]) -> None:
    with pytest.raises(FetchFailed):
        fetch(GuardedFetcher(resolve=lambda host, port: ["8.8.8.8"]), url)
    assert connections == []


@pytest.mark.parametrize("host", DISGUISES)
def test_a_disguised_private_address_is_not_connected_to(host: str, connections: list[str]) -> None:
    with pytest.raises(FetchFailed):
        fetch(GuardedFetcher(), f"https://{host}/client.json")
    assert connections == []


def test_one_private_address_among_public_ones_spoils_a_name(connections: list[str]) -> None:
    fetcher = GuardedFetcher(resolve=lambda host, port: ["8.8.8.8", "127.0.0.1"])
    with pytest.raises(FetchFailed):
        fetch(fetcher, "https://tool.example/client.json")
    assert connections == []


def test_a_name_is_resolved_once_so_that_a_second_answer_changes_nothing(
    connections: list[str],
) -> None:
    answers: list[Sequence[str]] = [["8.8.8.8"], ["127.0.0.1"]]
    fetcher = GuardedFetcher(resolve=lambda host, port: answers.pop(0))
    with pytest.raises(FetchFailed):
        fetch(fetcher, "https://tool.example/client.json")
    assert connections == ["8.8.8.8"]
    assert len(answers) == 1


def test_a_document_is_fetched_with_its_headers(documents: DocumentServer) -> None:
    url = documents.describe(cache="max-age=600")
    fetched = fetch(documents.fetcher(), url)
    assert b"Trial Tool" in fetched.body
    assert fetched.headers["cache-control"] == "max-age=600"


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (404, {"Content-Type": "application/json"}, b"{}"),
        (500, {"Content-Type": "application/json"}, b"{}"),
        (301, {"Content-Type": "application/json", "Location": "/client.json"}, b"{}"),
        (302, {"Location": "https://127.0.0.1/admin"}, b""),
        (200, {"Content-Type": "text/html"}, b"<html>"),
        (200, {}, b"{}"),
        (200, {"Content-Type": "application/json", "Content-Encoding": "gzip"}, b"\x1f\x8b"),
        (200, {"Content-Type": "application/json"}, b" " * (guarded_fetch.MAX_BYTES + 1)),
    ],
    ids=["404", "500", "301", "302", "html", "untyped", "packed", "large"],
)
def test_an_answer_of_another_kind_is_refused(
    documents: DocumentServer, status: int, headers: dict[str, str], body: bytes
) -> None:
    documents.describe()
    documents.answers["/other"] = (status, headers, body)
    with pytest.raises(FetchFailed):
        fetch(documents.fetcher(), documents.url("/other"))
    assert documents.requests == ["/other"]


def test_a_server_that_drips_is_given_up(
    documents: DocumentServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded_fetch, "MAX_SECONDS", 0.3)
    with pytest.raises(FetchFailed, match="in time"):
        fetch(documents.fetcher(), documents.url("/drip"))


def test_a_certificate_of_another_name_is_refused(documents: DocumentServer) -> None:
    url = documents.describe().replace("tool.example", "other.example")
    with pytest.raises(FetchFailed, match="reached"):
        fetch(documents.fetcher(), url)


def test_there_are_enough_hostile_addresses_here() -> None:
    assert len({*PRIVATE_ADDRESSES, *BAD_URLS, *DISGUISES}) >= 80
    assert url_problem("https://claude.ai/oauth/claude-code-client-metadata") is None
