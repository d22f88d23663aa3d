"""Addresses that look like a registered one. Nobody is ever redirected to any of them."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from backread.kernel import Kernel
from tests.api.oauth.flow import Flow, register
from tests.api.oauth.test_authorize import rows

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

HTTPS = "https://tool.example/cb?app=1"
LOOPBACK = "http://127.0.0.1:33418/callback"
CUSTOM = "trial-app://oauth/callback"

TRICKS = [
    # another host
    "https://evil.example/cb?app=1",
    "https://tool.example.evil.example/cb?app=1",
    "https://eviltool.example/cb?app=1",
    "https://tool.example@evil.example/cb?app=1",
    "https://tool.example:x@evil.example/cb?app=1",
    "https://evil.example#@tool.example/cb?app=1",
    "https://evil.example?@tool.example/cb?app=1",
    "https://evil.example\\@tool.example/cb?app=1",
    "https://evil.example\\.tool.example/cb?app=1",
    "https://tool.example\\.evil.example/cb?app=1",
    "https://tool.example%2eevil.example/cb?app=1",
    "https://tool.example%40evil.example/cb?app=1",
    "https://tool.example%2f@evil.example/cb?app=1",
    "https://tool.example%00.evil.example/cb?app=1",
    "https://tool.example\t.evil.example/cb?app=1",
    "https://tool.example\n.evil.example/cb?app=1",
    "https:///evil.example/cb?app=1",
    "https:evil.example/cb?app=1",
    "//evil.example/cb?app=1",
    "///evil.example/cb?app=1",
    "/\\evil.example/cb?app=1",
    # the same host in another spelling
    "https://TOOL.example/cb?app=1",
    "HTTPS://tool.example/cb?app=1",
    "https://tool.example./cb?app=1",
    "https://tool.example:443/cb?app=1",
    "https://tool.example:8443/cb?app=1",
    "https://tool.example:/cb?app=1",
    "https://user@tool.example/cb?app=1",
    "https://tооl.example/cb?app=1",
    "https://xn--tl-fmcc.example/cb?app=1",
    "https://ｔool.example/cb?app=1",
    "https://tool。example/cb?app=1",
    # another scheme
    "http://tool.example/cb?app=1",
    "ftp://tool.example/cb?app=1",
    "javascript://tool.example/cb?app=1%0aalert(1)",
    "javascript:alert(1)//tool.example/cb?app=1",
    "data:text/html,https://tool.example/cb?app=1",
    "blob:https://tool.example/cb?app=1",
    "view-source:https://tool.example/cb?app=1",
    # another path
    "https://tool.example/",
    "https://tool.example",
    "https://tool.example/cb",
    "https://tool.example/cb/?app=1",
    "https://tool.example/CB?app=1",
    "https://tool.example//cb?app=1",
    "https://tool.example/./cb?app=1",
    "https://tool.example/x/../cb?app=1",
    "https://tool.example/cb/../../evil?app=1",
    "https://tool.example/%63b?app=1",
    "https://tool.example/cb%2f?app=1",
    "https://tool.example/cb%2f..%2fevil?app=1",
    "https://tool.example/cb;x=1?app=1",
    "https://tool.example/cb\\evil?app=1",
    # another query or fragment
    "https://tool.example/cb?app=1&next=https://evil.example",
    "https://tool.example/cb?app=2",
    "https://tool.example/cb?app=1&app=2",
    "https://tool.example/cb?APP=1",
    "https://tool.example/cb?app=%31",
    "https://tool.example/cb?app=1&",
    "https://tool.example/cb?app=1#",
    "https://tool.example/cb?app=1#https://evil.example",
    "https://tool.example/cb?app=1%0d%0aLocation:%20https://evil.example",
    "https://tool.example/cb?app=1\r\nLocation: https://evil.example",
    " https://tool.example/cb?app=1",
    "https://tool.example/cb?app=1 ",
    "\u202ehttps://tool.example/cb?app=1",
    # beside loopback
    "http://127.0.0.1:33418/callback/",
    "http://127.0.0.1:33418/callback?x=1",
    "http://127.0.0.1:33418/Callback",
    "http://127.0.0.1:33418/callback#x",
    "https://127.0.0.1:33418/callback",
    "http://localhost:33418/callback",
    "http://[::1]:33418/callback",
    "http://127.0.0.2:33418/callback",
    "http://127.1:33418/callback",
    "http://2130706433:33418/callback",
    "http://0x7f.0.0.1:33418/callback",
    "http://127.0.0.1.evil.example:33418/callback",
    "http://127.0.0.1@evil.example:33418/callback",
    "http://127.0.0.1:33418@evil.example/callback",
    "http://127.0.0.1:99999/callback",
    "http://127.0.0.1:port/callback",
    "http://0.0.0.0:33418/callback",
    # beside the app's own scheme
    "trial-app://oauth/callback/",
    "trial-app://oauth/callback?x=1",
    "trial-app://evil/callback",
    "trial-app:/oauth/callback",
    "trial-app:oauth/callback",
    "trial-apps://oauth/callback",
    "TRIAL-APP://oauth/callback",
]


@pytest.fixture
def client(signed_in: TestClient) -> dict[str, Any]:
    return register(signed_in, redirect_uris=[HTTPS, LOOPBACK, CUSTOM])


@pytest.mark.parametrize("trick", TRICKS, ids=repr)
def test_an_address_that_only_looks_registered_is_answered_with_a_page(
    signed_in: TestClient, kernel: Kernel, client: dict[str, Any], trick: str
) -> None:
    flow = Flow(signed_in, client["client_id"])
    answer = flow.authorize(redirect_uri=trick)
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert "evil.example" not in answer.text
    assert rows(kernel) == 0


@pytest.mark.parametrize("trick", TRICKS, ids=repr)
def test_a_code_is_not_exchanged_under_such_an_address(
    signed_in: TestClient, client: dict[str, Any], trick: str
) -> None:
    flow = Flow(signed_in, client["client_id"], redirect_uri=HTTPS)
    code = flow.code()
    assert flow.exchange(code, redirect_uri=trick).json()["error"] == "invalid_grant"
    assert flow.exchange(code).status_code == 200


@pytest.mark.parametrize("address", [HTTPS, LOOPBACK, CUSTOM, "http://127.0.0.1:50123/callback"])
def test_the_registered_addresses_themselves_are_answered(
    signed_in: TestClient, client: dict[str, Any], address: str
) -> None:
    flow = Flow(signed_in, client["client_id"], redirect_uri=address)
    assert flow.exchange(flow.code()).status_code == 200
