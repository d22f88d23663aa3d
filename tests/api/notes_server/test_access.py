"""Who gets in at the notes address, and with what."""

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from backread.settings import Settings
from tests.api.mcp_server.calls import Caller
from tests.api.notes_server.conftest import NOTES, notes_address, refused
from tests.api.oauth.flow import new_flow

SIX = [
    "memory__search",
    "memory__read",
    "memory__list",
    "memory__write",
    "memory__edit",
    "memory__delete",
]


def test_c38_the_short_address_is_a_resource_of_its_own(signed_in: TestClient) -> None:
    origin = str(signed_in.base_url).rstrip("/")
    for ending in ("", "/"):
        metadata = signed_in.get(f"/.well-known/oauth-protected-resource/mcp{ending}").json()
        assert metadata["resource"] == f"{origin}/mcp"
        assert metadata["scopes_supported"] == ["memory:read", "memory:write"]
        assert metadata["resource_name"] == "Backread notes"
    root = signed_in.get("/.well-known/oauth-protected-resource").json()
    assert root["resource"] == f"{origin}/api/mcp/mcp"
    server = signed_in.get("/.well-known/oauth-authorization-server/mcp").json()
    assert f"{origin}/mcp" in server["protected_resources"]


@pytest.mark.parametrize("path", [NOTES, f"{NOTES}/"])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_without_a_token_the_answer_says_where_to_sign_in(
    signed_in: TestClient, path: str, method: str
) -> None:
    answer = Caller(signed_in, path=path).request(method)
    assert answer.status_code == 401
    header = answer.headers["www-authenticate"]
    assert f"{signed_in.base_url}/.well-known/oauth-protected-resource/mcp".replace(
        "//.", "/."
    ) in (header)
    assert 'scope="memory:read memory:write"' in header


def test_a_token_is_good_for_the_one_server_that_it_was_issued_for(
    notes: Caller, signed_in: TestClient
) -> None:
    recall = Caller(signed_in, new_flow(signed_in).tokens()["access_token"])
    assert recall.rpc("tools/list").status_code == 200
    for caller, path in ((recall, NOTES), (notes, "/api/mcp/mcp")):
        answer = Caller(signed_in, caller.token, path=path).rpc("tools/list")
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert notes.tools() == SIX


def test_a_grant_for_notes_holds_no_permission_that_notes_have_no_use_for(
    signed_in: TestClient,
) -> None:
    flow = new_flow(signed_in)
    page = flow.authorize(resource=notes_address(signed_in))
    assert "wants to use your Backread notes" in page.text
    assert "chat-history" not in page.text
    assert "Read your notes" in page.text
    assert "Backread notes" not in flow.authorize().text
    assert flow.tokens(resource=notes_address(signed_in))["scope"] == "memory:read memory:write"
    only_chats = flow.authorize(resource=notes_address(signed_in), scope="chat-history:read")
    assert "error=invalid_scope" in only_chats.headers["location"]


def test_one_request_is_for_one_resource(signed_in: TestClient) -> None:
    flow = new_flow(signed_in)
    recall = notes_address(signed_in).replace("/mcp", "/api/mcp/mcp")
    answer = flow.authorize(resource=[notes_address(signed_in), recall])
    assert "error=invalid_target" in answer.headers["location"]
    code = flow.code(resource=notes_address(signed_in))
    assert flow.exchange(code, resource=recall).json()["error"] == "invalid_target"


def test_tools_that_a_grant_does_not_allow_are_hidden_and_refused_with_what_to_ask_for(
    notes_caller_for: Callable[..., Caller],
) -> None:
    reader = notes_caller_for("memory:read")
    assert reader.tools() == SIX[:3]
    for send in (reader.rpc, reader.modern):
        arguments = {"name": "memory__write", "arguments": {"path": "a.md", "body": "x"}}
        answer = send("tools/call", arguments)
        assert answer.status_code == 403
        assert 'scope="memory:read memory:write"' in answer.headers["www-authenticate"]
    writer = notes_caller_for("memory:write")
    assert writer.tools() == SIX[3:]


def test_only_posts_are_taken(notes: Caller) -> None:
    for method in ("GET", "DELETE", "PUT"):
        answer = notes.request(method)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST, OPTIONS")


def test_browsers_of_other_sites_may_ask(signed_in: TestClient) -> None:
    answer = signed_in.options(NOTES, headers={"Access-Control-Request-Method": "POST"})
    assert answer.headers["access-control-allow-origin"] == "*"


def test_the_seventh_tool_needs_a_setting(settings: Settings, notes: Caller) -> None:
    assert "memory__semantic_search" not in notes.tools()
    answer = notes.rpc(
        "tools/call", {"name": "memory__semantic_search", "arguments": {"query": "x"}}
    )
    assert "Unknown tool" in answer.json()["error"]["message"]
    changed = settings.model_copy(update={"notes_semantic_search": True})
    app = create_app(changed)
    with TestClient(app, base_url=settings.origin, follow_redirects=False) as browser:
        again = Caller(browser, notes.token, path=NOTES)
        assert again.tools() == [*SIX, "memory__semantic_search"]
        assert refused(again.call("memory__semantic_search", {"query": " "}))


def test_the_connections_page_gives_the_notes_address_and_says_which_clients_have_it(
    notes: Caller, signed_in: TestClient
) -> None:
    page = signed_in.get("/connections").text
    assert notes_address(signed_in) in page
    assert "Write and change notes" in page
    new_flow(signed_in).tokens()
    assert "Read your past conversations" in signed_in.get("/connections").text
