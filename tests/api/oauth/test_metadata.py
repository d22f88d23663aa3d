import pytest
from starlette.testclient import TestClient

from backread.settings import Settings

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

AS_PATHS = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/api/mcp/mcp",
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/api/mcp/mcp",
]
PRM_PATHS = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/api/mcp/mcp",
]


@pytest.mark.parametrize("path", PRM_PATHS)
def test_c01_resource_metadata_is_at_the_path_and_at_the_root(
    browser: TestClient, settings: Settings, path: str
) -> None:
    answer = browser.get(path)
    assert answer.status_code == 200
    assert answer.json() == {
        "resource": f"{settings.origin}/api/mcp/mcp",
        "authorization_servers": [settings.origin],
        "scopes_supported": ["memory:read", "memory:write", "chat-history:read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Backread",
    }


@pytest.mark.parametrize("path", AS_PATHS)
def test_c01_server_metadata_is_at_every_address_that_clients_try(
    browser: TestClient, settings: Settings, path: str
) -> None:
    body = browser.get(path).json()
    assert body == browser.get(AS_PATHS[0]).json()
    assert body["issuer"] == settings.origin
    assert body["code_challenge_methods_supported"] == ["S256"]
    assert "client_id_metadata_document_supported" not in body


def test_c04_endpoints_stand_at_the_origin_root(browser: TestClient, settings: Settings) -> None:
    body = browser.get(AS_PATHS[0]).json()
    assert body["authorization_endpoint"] == f"{settings.origin}/authorize"
    assert body["token_endpoint"] == f"{settings.origin}/token"
    assert body["registration_endpoint"] == f"{settings.origin}/register"
    assert body["revocation_endpoint"] == f"{settings.origin}/revoke"


def test_c10_offline_access_is_named_by_the_authorization_server_only(browser: TestClient) -> None:
    assert "offline_access" in browser.get(AS_PATHS[0]).json()["scopes_supported"]
    assert "offline_access" not in browser.get(PRM_PATHS[1]).text


@pytest.mark.parametrize("path", [*AS_PATHS, *PRM_PATHS])
def test_c03_metadata_ignores_what_proxies_and_attackers_put_into_headers(
    browser: TestClient, settings: Settings, path: str
) -> None:
    plain = browser.get(path).text
    hostile = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "http",
        "Forwarded": "host=evil.example;proto=http",
    }
    assert browser.get(path, headers=hostile).text == plain
    assert browser.get(path, headers={"Host": "localhost"}).text == plain


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource/mcp/memories",
        "/.well-known/oauth-authorization-server/nothing",
        "/.well-known/jwks.json",
        "/.well-known/",
    ],
)
def test_c16_unknown_well_known_addresses_are_json_not_found(
    browser: TestClient, path: str
) -> None:
    answer = browser.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"error": "not_found"}


@pytest.mark.parametrize("path", [AS_PATHS[0], PRM_PATHS[1], "/token", "/register", "/api/mcp/mcp"])
def test_c17_browsers_may_read_discovery_token_registration_and_mcp(
    browser: TestClient, path: str
) -> None:
    preflight = browser.options(
        path,
        headers={
            "Origin": "https://inspector.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,mcp-method,mcp-name,mcp-param-query",
        },
    )
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    allowed = preflight.headers["access-control-allow-headers"].split(", ")
    assert {
        "authorization",
        "content-type",
        "accept",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-session-id",
        "last-event-id",
        "mcp-param-query",
    } <= set(allowed)
    assert "access-control-allow-credentials" not in preflight.headers
    answer = browser.post(path, headers={"Origin": "http://localhost:6274"})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "WWW-Authenticate" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize("path", ["/authorize", "/sign-in", "/", "/api/v1/conversations"])
def test_c17_pages_and_rest_are_closed_to_other_origins(browser: TestClient, path: str) -> None:
    for answer in (
        browser.get(path, headers={"Origin": "https://evil.example"}),
        browser.options(
            path,
            headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
        ),
    ):
        assert "access-control-allow-origin" not in answer.headers
