"""What protocol revision 2026-07-28 requires of a server, request by request, and that answers
of every revision have that revision's form. The official suite runs nightly
(`tests/nightly/conformance`); this is what of it needs no npm."""

from typing import Any

import pytest
from mcp_types import methods

from tests.api.mcp_server.calls import MODERN, Caller

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

PREFIX = "io.modelcontextprotocol/"
META = {f"{PREFIX}protocolVersion": MODERN, f"{PREFIX}clientCapabilities": {}}


def ask(
    caller: Caller, method: str, params: dict[str, Any] | None, **headers: str | None
) -> tuple[int, dict[str, Any]]:
    """Status and body. Header names are written with underscores; None leaves one out."""
    given: dict[str, str | None] = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": "q", "method": method}
    if params is not None:
        body["params"] = params
    answer = caller.post(body, given)
    assert "mcp-session-id" not in answer.headers
    parsed: dict[str, Any] = answer.json()
    assert parsed["id"] == "q"
    return answer.status_code, parsed


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"_meta": {}},
        {"_meta": {f"{PREFIX}protocolVersion": MODERN}},
        {"_meta": {f"{PREFIX}clientCapabilities": {}}},
    ],
)
def test_a_request_without_its_envelope_is_invalid(
    caller: Caller, params: dict[str, Any] | None
) -> None:
    status, body = ask(caller, "server/discover", params)
    assert (status, body["error"]["code"]) == (400, -32602)


def test_a_client_need_not_say_its_name(caller: Caller) -> None:
    status, body = ask(caller, "server/discover", {"_meta": META})
    assert status == 200
    assert MODERN in body["result"]["supportedVersions"]


def test_c18_an_unknown_version_is_told_which_are_known(caller: Caller) -> None:
    meta = {**META, f"{PREFIX}protocolVersion": "2031-01-01"}
    status, body = ask(caller, "tools/list", {"_meta": meta}, MCP_Protocol_Version="2031-01-01")
    assert (status, body["error"]["code"]) == (400, -32022)
    assert MODERN in body["error"]["data"]["supported"]
    assert body["error"]["data"]["requested"] == "2031-01-01"


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp_Method": "tools/list"},
        {"Mcp_Method": "TOOLS/CALL"},
        {"Mcp_Method": None},
        {"Mcp_Name": "store_memory"},
        {"Mcp_Name": None},
        {"Mcp_Name": "=?base64?c3RvcmVfbWVtb3J5?="},
        {"Mcp_Name": "=?base64?not base64?="},
    ],
    ids=str,
)
def test_headers_that_contradict_the_body_are_refused(
    caller: Caller, headers: dict[str, str | None]
) -> None:
    params = {"name": "list_buckets", "arguments": {}, "_meta": META}
    given = {"Mcp_Name": "list_buckets", **headers}
    status, body = ask(caller, "tools/call", params, **given)
    assert (status, body["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize("name", ["list_buckets", "=?base64?bGlzdF9idWNrZXRz?="])
def test_a_tools_name_may_be_wrapped_in_its_header(caller: Caller, name: str) -> None:
    params = {"name": "list_buckets", "arguments": {}, "_meta": META}
    status, body = ask(caller, "tools/call", params, Mcp_Name=name)
    assert status == 200
    assert body["result"]["isError"] is False


@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "unknown/method",
    ],
)
def test_c39_methods_that_are_not_served_are_not_found(caller: Caller, method: str) -> None:
    status, body = ask(caller, method, {"_meta": META})
    assert (status, body["error"]["code"]) == (404, -32601)


def test_c18_a_handshake_is_one_whatever_its_version_header_says(caller: Caller) -> None:
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "trial", "version": "1"},
    }
    status, body = ask(caller, "initialize", params)
    assert status == 200
    assert body["result"]["protocolVersion"] == "2025-06-18"


def test_results_say_that_they_are_complete_and_how_long_they_hold(caller: Caller) -> None:
    _, listed = ask(caller, "tools/list", {"_meta": META})
    assert listed["result"]["resultType"] == "complete"
    assert listed["result"]["ttlMs"] >= 0
    assert listed["result"]["cacheScope"] == "private"


@pytest.mark.parametrize("body", [[], [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], "x", None])
def test_what_is_no_single_message_is_refused(caller: Caller, body: object) -> None:
    answer = caller.post(body, {"MCP-Protocol-Version": MODERN, "Mcp-Method": "ping"})
    assert answer.status_code == 400


def test_a_notification_is_taken_without_an_answer(caller: Caller) -> None:
    body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    answer = caller.post(body, {"MCP-Protocol-Version": MODERN})
    assert (answer.status_code, answer.content) == (202, b"")


CALL = {"name": "list_buckets", "arguments": {}}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_answers_have_the_form_of_the_handshakes_revision(caller: Caller, version: str) -> None:
    hello = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "trial", "version": "1"},
    }
    for method, params in (
        ("initialize", hello),
        ("ping", {}),
        ("tools/list", {}),
        ("tools/call", CALL),
        ("prompts/list", {}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
    ):
        answer = caller.rpc(method, params, {"MCP-Protocol-Version": version})
        assert answer.status_code == 200
        methods.validate_server_result(method, version, answer.json()["result"])


@pytest.mark.parametrize(
    "method",
    [
        "server/discover",
        "tools/list",
        "tools/call",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ],
)
def test_answers_have_the_form_of_the_stateless_revision(caller: Caller, method: str) -> None:
    result = caller.modern(method, CALL if method == "tools/call" else {}).json()["result"]
    methods.validate_server_result(method, MODERN, result)
