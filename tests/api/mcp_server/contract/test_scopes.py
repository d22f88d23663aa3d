"""14 tools times all sets of permissions: hidden from the list, and refused when called anyway."""

from itertools import combinations

import pytest

from tests.api.mcp_server.calls import CallerFor
from tests.api.mcp_server.contract.table import ROWS, SCOPES

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

# A grant always has one permission at least.
SUBSETS = [some for count in (1, 2, 3) for some in combinations(SCOPES, count)]


@pytest.mark.parametrize("scopes", SUBSETS, ids=" ".join)
def test_a_client_sees_the_tools_of_its_grant_and_no_others(
    caller_for: CallerFor, scopes: tuple[str, ...]
) -> None:
    caller = caller_for(*scopes)
    shown = set(caller.tools())
    modern = caller.modern("tools/list").json()["result"]["tools"]
    assert {tool["name"] for tool in modern} == shown
    for row in ROWS:
        assert (row.name in shown) is (row.scope in scopes), row.name


@pytest.mark.parametrize("scopes", SUBSETS, ids=" ".join)
def test_a_call_outside_the_grant_is_told_what_to_ask_for(
    caller_for: CallerFor, scopes: tuple[str, ...]
) -> None:
    caller = caller_for(*scopes)
    for row in ROWS:
        params = {"name": row.name, "arguments": {}}
        for answer in (caller.rpc("tools/call", params), caller.modern("tools/call", params)):
            if row.scope in scopes:
                assert answer.status_code == 200, row.name
                continue
            assert answer.status_code == 403, row.name
            challenge = answer.headers["www-authenticate"]
            assert 'error="insufficient_scope"' in challenge
            wanted = challenge.split('scope="', 1)[1].split('"', 1)[0].split()
            assert set(wanted) == {*scopes, row.scope}
