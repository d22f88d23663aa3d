from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.migrate import upgrade


@pytest.mark.parametrize(
    "public_url",
    [
        "http://127.0.0.1:8787",
        "http://localhost:8787",
        "http://localhost",
        "http://[::1]:8787",
        "https://backread.example.org",
        "https://backread.example.org/",
        "https://backread.example.org:8443",
        "https://backread.example.org:443",
        "https://BACKREAD.example.org",
        "https://xn--bcher-kva.example",
        "https://10.0.0.5",
        "https://a.b.c.d.example.org:4433/",
    ],
)
def test_c27_issuer_and_resource_are_the_same_bytes_everywhere(
    tmp_path: Path, public_url: str
) -> None:
    settings = Settings(home=tmp_path, public_url=public_url, embedding_model="hashing")
    store = Store(settings.sqlalchemy_url)
    upgrade(store)
    store.close()
    origin = public_url.rstrip("/")
    with TestClient(create_app(settings), base_url=origin) as browser:
        server = browser.get("/.well-known/oauth-authorization-server").json()
        resource = browser.get("/.well-known/oauth-protected-resource/api/mcp/mcp").json()
        challenge = browser.post("/api/mcp/mcp", json={}).headers["www-authenticate"]
    assert server["issuer"] == origin
    assert resource["authorization_servers"] == [origin]
    assert resource["resource"] == f"{origin}/api/mcp/mcp"
    assert server["protected_resources"] == [
        resource["resource"],
        f"{origin}/api/mcp/sse",
        f"{origin}/mcp",
    ]
    expected = f'resource_metadata="{origin}/.well-known/oauth-protected-resource/api/mcp/mcp"'
    assert expected in challenge
