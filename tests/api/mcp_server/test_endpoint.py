import itertools
import json
import socket
import time
from datetime import timedelta

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from api.mcp_server.tools import TOOLS
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import OAuthGrant, OAuthToken
from tests.api.mcp_server.calls import MCP, MODERN, Caller, CallerFor
from tests.api.mcp_server.live_server import LiveServer

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

ALL = "memory:read memory:write chat-history:read"
TOOL_SCOPES = {tool.name: tool.scope.value for tool in TOOLS}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Of a server that offers every tool there is."""
    return settings.model_copy(update={"team_id": "acme"})


@pytest.mark.parametrize("path", [MCP, f"{MCP}/"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"])
def test_c20_every_method_without_a_token_gets_the_same_challenge(
    browser: TestClient, settings: Settings, path: str, method: str
) -> None:
    answer = Caller(browser, path=path).request(method)
    assert answer.status_code == 401
    metadata = f"{settings.origin}/.well-known/oauth-protected-resource/api/mcp/mcp"
    assert answer.headers["www-authenticate"] == (
        f'Bearer resource_metadata="{metadata}", scope="{ALL}"'
    )


def test_c19_a_discover_probe_without_a_token_is_challenged_at_once(browser: TestClient) -> None:
    begin = time.monotonic()
    answer = Caller(browser).modern("server/discover")
    assert answer.status_code == 401
    assert time.monotonic() - begin < 1


@pytest.mark.parametrize(
    "authorization",
    ["Bearer unknown", "bearer bra_unknown", "Bearer " + "x" * 5000, "Bearer a b"],
)
def test_c40_a_token_that_is_not_good_gets_invalid_token(
    browser: TestClient, authorization: str
) -> None:
    answer = Caller(browser).rpc("tools/list", headers={"Authorization": authorization})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith('Bearer error="invalid_token"')
    assert "resource_metadata=" in answer.headers["www-authenticate"]
    assert answer.json()["error"] == "invalid_token"


@pytest.mark.parametrize("authorization", ["Basic YTpi", "Bearer", "Bearer ", "Digest x", ""])
def test_other_credentials_count_as_none(browser: TestClient, authorization: str) -> None:
    answer = Caller(browser).rpc("tools/list", headers={"Authorization": authorization})
    assert answer.status_code == 401
    assert "error=" not in answer.headers["www-authenticate"]


def test_a_token_in_the_query_is_not_looked_at(caller: Caller) -> None:
    answer = caller.browser.post(f"{MCP}?access_token={caller.token}", json={})
    assert answer.status_code == 401


def test_c40_expiry_and_revocation_take_effect_on_the_next_request(
    caller_for: CallerFor, kernel: Kernel
) -> None:
    expired, revoked = caller_for("memory:read"), caller_for("memory:read")
    assert expired.tools()
    assert revoked.tools()
    with kernel.store.write() as session:
        session.execute(update(OAuthToken).values(expires_at=utcnow() - timedelta(seconds=1)))
    assert expired.rpc("tools/list").status_code == 401
    with kernel.store.write() as session:
        session.execute(update(OAuthToken).values(expires_at=utcnow() + timedelta(hours=1)))
        session.execute(update(OAuthGrant).values(revoked_at=utcnow()))
    assert revoked.rpc("tools/list").status_code == 401


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "PUT"])
def test_c20_with_a_token_other_methods_are_not_allowed(caller: Caller, method: str) -> None:
    answer = caller.request(method)
    assert answer.status_code == 405
    assert "POST" in answer.headers["allow"]


@pytest.mark.parametrize("path", [MCP, f"{MCP}/"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "HEAD", "OPTIONS"])
def test_c05_nothing_redirects(caller: Caller, path: str, method: str) -> None:
    for token in (caller.token, None):
        answer = Caller(caller.browser, token, path).request(method)
        assert not 300 <= answer.status_code < 400


def test_c05_both_spellings_of_the_address_are_served(caller: Caller) -> None:
    assert Caller(caller.browser, caller.token, f"{MCP}/").tools() == caller.tools()


def test_c17_a_preflight_is_answered_before_authentication(browser: TestClient) -> None:
    answer = browser.options(
        MCP,
        headers={
            "Origin": "http://localhost:6274",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "mcp-protocol-version",
        },
    )
    assert answer.status_code == 204
    assert "mcp-protocol-version" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1.evil.example", "file://", "garbage"],
)
def test_c22_a_foreign_origin_is_forbidden_even_with_a_token(caller: Caller, origin: str) -> None:
    assert caller.rpc("tools/list", headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8787", "http://localhost:6274"])
def test_c22_our_own_origins_are_allowed(caller: Caller, origin: str) -> None:
    assert caller.rpc("tools/list", headers={"Origin": origin}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "a@127.0.0.1", "x y"])
def test_c22_a_foreign_host_is_refused_with_words(browser: TestClient, host: str) -> None:
    answer = browser.get("/healthz", headers={"Host": host})
    assert answer.status_code == 421
    assert "BACKREAD_ALLOWED_HOSTS" in answer.text


def test_a_browser_under_a_foreign_host_gets_a_page_that_leads_to_the_server(
    browser: TestClient, settings: Settings
) -> None:
    answer = browser.get("/", headers={"Host": "evil.example", "Accept": "text/html"})
    assert answer.status_code == 421
    assert answer.headers["content-type"].startswith("text/html")
    assert f'href="{settings.origin}/"' in answer.text
    assert "script" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize("host", ["127.0.0.1:8787", "localhost", "[::1]:99", "LOCALHOST:1"])
def test_c22_loopback_is_answered_under_all_its_names(browser: TestClient, host: str) -> None:
    assert browser.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("application/*", "application/json"),
        ("application/json, text/event-stream", "application/json"),
        ("text/event-stream, application/json", "application/json"),
        ("text/event-stream", "text/event-stream"),
    ],
)
def test_c21_json_unless_only_sse_is_accepted(
    caller: Caller, accept: str | None, content_type: str
) -> None:
    answer = caller.rpc("tools/list", headers={"Accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(content_type)


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "text/event-stream"])
def test_c21_the_stateless_era_is_as_lenient(caller: Caller, accept: str | None) -> None:
    assert caller.modern("tools/list", headers={"Accept": accept}).status_code == 200


def test_c21_406_only_when_neither_is_acceptable(caller: Caller) -> None:
    assert caller.rpc("tools/list", headers={"Accept": "text/html"}).status_code == 406


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_c24_answers_are_not_buffered_or_stored_on_the_way(caller: Caller, accept: str) -> None:
    answer = caller.rpc("tools/list", headers={"Accept": accept})
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
        ("nonsense", "2025-11-25"),
    ],
)
def test_c18_every_handshake_version_is_negotiated(
    caller: Caller, asked: str, answered: str
) -> None:
    params = {
        "protocolVersion": asked,
        "capabilities": {},
        "clientInfo": {"name": "trial", "version": "1"},
    }
    for header in (None, asked, "2031-01-01"):
        answer = caller.rpc("initialize", params, headers={"MCP-Protocol-Version": header})
        assert answer.status_code == 200
        assert answer.json()["result"]["protocolVersion"] == answered


def test_c39_only_what_is_served_is_advertised(caller: Caller) -> None:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "trial", "version": "1"},
    }
    capabilities = caller.rpc("initialize", params).json()["result"]["capabilities"]
    assert set(capabilities) == {"tools", "prompts", "resources", "completions"}
    discovered = caller.modern("server/discover").json()["result"]
    assert set(discovered["capabilities"]) == set(capabilities)
    for kind in ("tools", "prompts", "resources"):
        assert kind in caller.modern(f"{kind}/list").json()["result"]
    assert MODERN in discovered["supportedVersions"]


def test_c18_an_unsupported_stateless_version_is_told_what_is_supported(caller: Caller) -> None:
    answer = caller.modern("tools/list", headers={"MCP-Protocol-Version": "2031-01-01"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] in {-32020, -32022}


@pytest.mark.parametrize("session_id", ["stale", "0" * 32, "\x7f"])
def test_c23_a_session_id_is_never_asked_for_given_or_refused(
    caller: Caller, session_id: str
) -> None:
    answer = caller.rpc("tools/list", headers={"Mcp-Session-Id": session_id})
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers


def test_tools_list_is_private_and_the_same_every_time(caller: Caller) -> None:
    first, second = (caller.modern("tools/list").json()["result"] for _ in range(2))
    assert first == second
    assert first["cacheScope"] == "private"


SCOPE_SETS = [
    scopes
    for size in (1, 2, 3)
    for scopes in itertools.combinations(["memory:read", "memory:write", "chat-history:read"], size)
]


@pytest.mark.parametrize("scopes", SCOPE_SETS, ids=" ".join)
def test_c13_each_grant_sees_and_calls_exactly_its_tools(
    caller_for: CallerFor, scopes: tuple[str, ...]
) -> None:
    caller = caller_for(*scopes)
    allowed = {name for name, scope in TOOL_SCOPES.items() if scope in scopes}
    assert set(caller.tools()) == allowed
    for name, scope in TOOL_SCOPES.items():
        for answer in (
            caller.rpc("tools/call", {"name": name, "arguments": {}}),
            caller.modern("tools/call", {"name": name, "arguments": {}}),
        ):
            if name in allowed:
                assert answer.status_code == 200
                continue
            assert answer.status_code == 403
            challenge = answer.headers["www-authenticate"]
            assert 'error="insufficient_scope"' in challenge
            wanted = challenge.split('scope="')[1].split('"')[0].split()
            assert set(wanted) == {*scopes, scope}
            assert "resource_metadata=" in challenge


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'"x"', b"[" * 3000, b'{"jsonrpc": "2.0"}', b"\xff"]
)
def test_c31_malformed_messages_are_400_and_never_422_or_500(
    caller: Caller, content: bytes
) -> None:
    headers = {
        "Authorization": f"Bearer {caller.token}",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    answer = caller.browser.post(MCP, content=content, headers=headers)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/json"


def test_a_body_over_four_megabytes_is_refused(caller: Caller) -> None:
    answer = caller.rpc("tools/list", {"padding": "x" * (4 * 1024**2)})
    assert answer.status_code == 413


def test_an_unknown_tool_and_method_are_protocol_errors(caller: Caller) -> None:
    unknown = caller.rpc("tools/call", {"name": "nothing", "arguments": {}})
    assert unknown.json()["error"]["code"] == -32602
    method = caller.modern("nothing/here")
    assert method.status_code == 404
    assert method.json()["error"]["code"] == -32601


def test_a_refusal_waits_for_the_rest_of_the_request(live: LiveServer) -> None:
    """A proxy that is still sending loses an answer whose connection ends."""
    head = (
        f"POST {MCP} HTTP/1.1\r\nHost: 127.0.0.1:{live.settings.port}\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", live.settings.port), timeout=20) as connection:
        answers = connection.makefile("rb")
        for _ in range(2):  # the connection is still good after the first
            connection.sendall(head)
            connection.sendall(b"{}")
            assert answers.readline().startswith(b"HTTP/1.1 401 ")
            length = 0
            while line := answers.readline().strip().lower():
                if line.startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            assert json.loads(answers.read(length))["error"] == "unauthorized"
