import random
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Account, FolderKey
from recall.folders.keys import revoke_key
from tests.api.folder_server.conftest import PATH, KeyCaller, KeyCallerFor
from tests.api.mcp_server.calls import Caller, CallerFor

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

WRITING = {"create_memory", "update_memory"}


@pytest.mark.parametrize(
    "token", [None, "", "brf_wrong", "brk_wrong", "x" * 5000, "bra_abc", "brf_é"]
)
def test_c37_a_wrong_key_is_a_clean_401_that_leads_into_no_sign_in(
    browser: TestClient, holder: KeyCaller, token: str | None
) -> None:
    headers: dict[bytes, bytes] = {}
    if token is not None:
        headers[b"Authorization"] = f"Bearer {token}".encode()
    for method in ("POST", "GET", "DELETE"):
        answer = browser.request(method, PATH, headers=headers, json={"jsonrpc": "2.0"})
        assert answer.status_code == 401
        assert answer.json()["error"] == "invalid_token"
        challenge = answer.headers["www-authenticate"]
        assert challenge == 'Bearer realm="folder", error="invalid_token"'
        assert "resource_metadata" not in challenge
    for spelling in ("/mcp/memories", "/mcp/memories/"):
        document = browser.get(f"/.well-known/oauth-protected-resource{spelling}")
        assert document.status_code == 404
        assert document.headers["content-type"].startswith("application/json")


def test_an_oauth_token_opens_no_folder_and_a_key_opens_nothing_else(
    signed_in: TestClient, caller_for: CallerFor, holder: KeyCaller
) -> None:
    token = caller_for("memory:read").token
    assert Caller(signed_in, token, path=PATH).rpc("tools/list").status_code == 401
    for path in ("/api/mcp/mcp", "/mcp"):
        assert Caller(signed_in, holder.token, path=path).rpc("tools/list").status_code == 401
    signed_in.cookies.clear()
    headers = {"Authorization": f"Bearer {holder.token}"}
    assert signed_in.get("/api/v1/folders", headers=headers).status_code == 401


def test_a_revoked_key_ends_at_once(
    holder: KeyCaller, kernel: Kernel, principal: Principal
) -> None:
    assert holder.rpc("tools/list").status_code == 200
    with kernel.store.write() as session:
        revoke_key(session, principal, holder.folder_id, holder.key_id)
    assert holder.rpc("tools/list").status_code == 401


def test_a_key_ends_at_its_time_and_with_its_account(
    holder_of: KeyCallerFor, kernel: Kernel
) -> None:
    short = holder_of(days=1)
    other = holder_of(folder_id=short.folder_id)
    assert short.rpc("tools/list").status_code == 200
    with kernel.store.write() as session:
        ended = update(FolderKey).where(FolderKey.id == short.key_id)
        session.execute(ended.values(expires_at=utcnow() - timedelta(seconds=1)))
    assert short.rpc("tools/list").status_code == 401
    assert other.rpc("tools/list").status_code == 200
    with kernel.store.write() as session:
        session.execute(update(Account).values(disabled_at=utcnow()))
    assert other.rpc("tools/list").status_code == 401


def test_keys_are_stored_as_hashes_and_note_their_use(holder: KeyCaller, kernel: Kernel) -> None:
    assert holder.token is not None
    with kernel.store.read() as session:
        row = session.scalars(select(FolderKey)).one()
        assert holder.token not in str(vars(row))
        assert row.last_used_at is None
    holder.rpc("tools/list")
    with kernel.store.read() as session:
        assert session.scalars(select(FolderKey.last_used_at)).one() is not None


def test_a_key_that_may_only_read_neither_sees_nor_calls_what_writes(
    holder: KeyCaller, holder_of: KeyCallerFor
) -> None:
    made = holder.result("create_memory", name="Plan", content="Draft.")
    reader = holder_of(folder_id=holder.folder_id, is_read_only=True)
    assert set(holder.tools()) - set(reader.tools()) == WRITING
    assert reader.result("find_memory", name="Plan")["id"] == made["id"]
    assert "only read" in reader.problem("create_memory", name="x", content="y")
    assert "only read" in reader.problem("update_memory", recordId=made["id"], content="y")
    assert holder.result("find_memory", name="Plan")["content"] == "Draft."


def test_one_key_reaches_one_folder_in_a_thousand_attempts(
    holder_of: KeyCallerFor, kernel: Kernel
) -> None:
    """Every tool with ids, names, words, filters and cursors of other folders."""
    holders = [holder_of(f"Folder {number}") for number in range(5)]
    records: list[list[str]] = []
    for number, holder in enumerate(holders):
        canary = f"canary{number}"
        fields = {"canary": canary, "same": "everywhere"}
        records.append(
            [
                holder.result(
                    "create_memory",
                    name=f"{canary} {index}",
                    content=f"{canary} The {canary} record {index} of this folder.",
                    metadata=fields,
                )["id"]
                for index in range(3)
            ]
        )
    run_pending(kernel)
    chance = random.Random(20261201)
    for _ in range(1000):
        mine, theirs = chance.sample(range(5), 2)
        answer = holders[mine].call(*_attempt(chance, theirs, records[theirs]))
        for number in set(range(5)) - {mine}:
            text = str(answer).replace(f'"canary{theirs} 0"', "")
            assert f"The canary{number} record" not in text
            assert not any(
                record in str(answer.get("structuredContent")) for record in records[number]
            )
    for number, holder in enumerate(holders):
        listed = holder.result("query_memories")["records"]
        assert [each["id"] for each in listed] == records[number]
        assert {each["revision"] for each in listed} == {1}


def _attempt(chance: random.Random, theirs: int, records: list[str]) -> tuple[str, dict[str, Any]]:
    record, canary = chance.choice(records), f"canary{theirs}"
    odd = chance.choice([record, f"{record} ", record.upper(), f"%{record}%", "' OR 1=1 --"])
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("find_memory", {"recordId": odd}),
        ("find_memory", {"name": f"{canary} 0"}),
        ("find_memory", {"name": "%"}),
        ("update_memory", {"recordId": odd, "content": "taken over"}),
        ("update_memory", {"recordId": record, "metadata": {"taken": True}}),
        ("get_propositions", {"recordId": odd}),
        ("vector_search", {"query": f"the {canary} record", "similarity_threshold": 0}),
        ("vector_search", {"query": canary, "limit": 100, "similarity_threshold": 0}),
        ("query_memories", {"metadata": [{"key": "canary", "value": canary}]}),
        ("query_memories", {"name": f"{canary} 1"}),
        ("query_memories", {"cursor": record, "metadata": {"same": "everywhere"}}),
        ("list_records", {"metadata": {"same": "everywhere"}, "cursor": odd}),
    ]
    return chance.choice(attempts)
