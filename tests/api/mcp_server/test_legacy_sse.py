"""HTTP+SSE, the transport of 2024-11-05, over real connections."""

import json
import re
from datetime import timedelta

import anyio
import httpx2
import pytest
from mcp.client.session import ClientSession
from mcp.client.sse import sse_client
from sqlalchemy import select, update
from starlette.testclient import TestClient

from api.mcp_server import legacy_sse
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import EventStream as StoredStream
from backread.store.models import OAuthToken, StreamReply
from tests.api.mcp_server.calls import Caller
from tests.api.mcp_server.event_stream import SSE, opened
from tests.api.mcp_server.live_server import LiveServer, running
from tests.api.oauth.flow import new_flow
from tests.support import wait_until

MESSAGES = "/api/mcp/messages"


@pytest.fixture
def token(live: LiveServer) -> str:
    return live.token()


def test_c25_the_first_event_names_the_whole_path_to_post_to(live: LiveServer, token: str) -> None:
    with live.client(token) as poster, opened(live, token, poster) as stream:
        name, address = stream.event()
        assert name == "endpoint"
        assert re.fullmatch(rf"{MESSAGES}\?session_id=[A-Za-z0-9_-]{{43}}", address)
        first = stream.answer(
            address,
            "initialize",
            protocolVersion="2024-11-05",
            capabilities={},
            clientInfo={"name": "trial", "version": "1"},
        )
        assert first["result"]["protocolVersion"] == "2024-11-05"
        posted = poster.post(
            address, json={"jsonrpc": "2.0", "method": "notifications/initialized"}
        )
        assert posted.status_code == 202
        assert stream.answer(address, "ping")["result"] == {}
        listed = stream.answer(address, "tools/list")["result"]["tools"]
        assert "list_buckets" in [tool["name"] for tool in listed]
        called = stream.answer(address, "tools/call", name="list_buckets", arguments={})
        assert called["result"]["isError"] is False


def test_c25_a_post_without_a_session_is_not_guessed_to_be_the_only_one(
    live: LiveServer, token: str
) -> None:
    with live.client(token) as poster, opened(live, token, poster) as stream:
        stream.event()
        for address in (MESSAGES, f"{MESSAGES}?session_id=", f"{MESSAGES}/"):
            assert stream.post(address, "ping").status_code == 400
        for unknown in ("x", "0" * 32, "A" * 43, "é" * 10):
            posted = poster.post(MESSAGES, params={"session_id": unknown}, json={})
            assert posted.status_code == 404


def test_c25_a_stream_takes_posts_of_its_own_account_and_client_only(
    live: LiveServer, token: str
) -> None:
    with live.session_of("boris@example.org") as other_browser:
        other = LiveServer(live.app, live.settings, other_browser)
        foreign_tokens = [other.token(), live.token(client_name="Another client")]
    with live.client(token) as poster, opened(live, token, poster) as stream:
        _, address = stream.event()
        for foreign in foreign_tokens:
            with live.client(foreign) as client:
                body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
                assert client.post(address, json=body).status_code == 404
        with live.client(None) as client:
            assert client.post(address, json={}).status_code == 401
        assert stream.answer(address, "ping")["result"] == {}


def test_c23_a_stream_outlives_the_token_that_opened_it(live: LiveServer) -> None:
    flow = new_flow(live.browser)
    tokens = flow.tokens()
    with (
        live.client(tokens["access_token"]) as poster,
        opened(live, tokens["access_token"], poster) as stream,
    ):
        _, address = stream.event()
        refreshed = flow.refresh(tokens["refresh_token"]).json()["access_token"]
        with live.app.state.kernel.store.write() as session:
            statement = update(OAuthToken).where(OAuthToken.kind == "access")
            session.execute(statement.values(expires_at=utcnow() - timedelta(seconds=1)))
        assert stream.post(address, "ping").status_code == 401
        with live.app.state.kernel.store.write() as session:
            session.execute(update(OAuthToken).values(expires_at=utcnow() + timedelta(minutes=1)))
        poster.headers["Authorization"] = f"Bearer {refreshed}"
        assert stream.answer(address, "ping")["result"] == {}


def test_c24_the_stream_begins_at_once_and_is_kept_alive(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert legacy_sse._KEEP_ALIVE_SECONDS == 15
    monkeypatch.setattr(legacy_sse, "_KEEP_ALIVE_SECONDS", 0.05)
    with running(settings) as live:
        token = live.token()
        with live.client(token) as poster, opened(live, token, poster) as stream:
            assert stream.response.headers["content-type"].startswith("text/event-stream")
            assert stream.response.headers["x-accel-buffering"] == "no"
            assert stream.response.headers["cache-control"] == "no-store"
            stream.event()
            assert stream.comment() == ": keep-alive"
            assert stream.comment() == ": keep-alive"


@pytest.mark.parametrize("spelling", [SSE, f"{SSE}/"])
def test_c05_both_spellings_open_a_stream(live: LiveServer, token: str, spelling: str) -> None:
    with live.client(token) as client, client.stream("GET", spelling) as response:
        assert response.status_code == 200
        assert next(response.iter_lines()) == "event: endpoint"


def test_c23_any_web_process_may_take_a_streams_posts(settings: Settings) -> None:
    with running(settings) as holder:
        shared = settings.model_copy(update={"public_url": holder.origin})
        with running(shared) as other:
            token = holder.token()
            away = httpx2.Client(
                base_url=f"http://127.0.0.1:{other.settings.port}",
                headers={"Authorization": f"Bearer {token}"},
                timeout=20,
            )
            with away, opened(holder, token, away) as stream:
                _, address = stream.event()
                for _ in range(3):
                    listed = stream.answer(address, "tools/list")
                    assert listed["result"]["tools"]
                with other.app.state.kernel.store.read() as session:
                    assert session.scalars(select(StreamReply)).all() == []


def test_a_stream_that_ended_takes_no_more_posts(live: LiveServer, token: str) -> None:
    store = live.app.state.kernel.store
    with live.client(token) as poster:
        with opened(live, token, poster) as stream:
            _, address = stream.event()

        def is_gone() -> bool:
            with store.read() as session:
                return session.scalars(select(StoredStream)).first() is None

        wait_until(is_gone, what="the end of the stream")
        assert stream.post(address, "ping").status_code == 404


def test_streams_of_processes_that_died_are_forgotten(live: LiveServer, token: str) -> None:
    store = live.app.state.kernel.store
    with live.client(token) as poster, opened(live, token, poster) as stream:
        stream.event()
        with store.write() as session:
            session.execute(update(StoredStream).values(seen_at=utcnow() - timedelta(minutes=6)))
        with opened(live, token, poster) as second:
            _, address = second.event()
            with store.read() as session:
                (left,) = session.scalars(select(StoredStream)).all()
            assert address.endswith(left.id)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff", b'"text"'])
def test_c31_a_post_that_is_no_message_is_400(live: LiveServer, token: str, body: bytes) -> None:
    with live.client(token) as poster, opened(live, token, poster) as stream:
        _, address = stream.event()
        assert poster.post(address, content=body).status_code == 400


def test_an_unreadable_request_is_answered_under_its_own_id(live: LiveServer, token: str) -> None:
    with live.client(token) as poster, opened(live, token, poster) as stream:
        _, address = stream.event()
        reply = stream.answer(address, "no/such/method")
        assert reply["error"]["code"] == -32601
        posted = poster.post(address, json={"jsonrpc": "1.0", "id": 7, "method": "ping"})
        assert posted.status_code == 202
        name, data = stream.event()
        assert (name, json.loads(data)["id"]) == ("message", 7)
        assert "error" in json.loads(data)


def test_c13_a_post_whose_tool_is_outside_the_grant_is_a_step_up(live: LiveServer) -> None:
    token = new_flow(live.browser).tokens(scopes=["memory:read"])["access_token"]
    with live.client(token) as poster, opened(live, token, poster) as stream:
        _, address = stream.event()
        posted = stream.post(
            address, "tools/call", name="store_memory", arguments={"text": "Ada likes tea."}
        )
        assert posted.status_code == 403
        challenge = posted.headers["www-authenticate"]
        assert 'error="insufficient_scope"' in challenge
        assert "oauth-protected-resource/api/mcp/sse" in challenge


def test_an_account_cannot_open_streams_without_end(
    live: LiveServer, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legacy_sse, "_MOST_STREAMS", 1)
    with live.client(token) as poster, opened(live, token, poster) as stream:
        stream.event()
        refused = poster.get(SSE)
        assert refused.status_code == 429
        assert refused.headers["retry-after"]


def test_the_python_sdks_sse_client_calls_a_tool(live: LiveServer, token: str) -> None:
    async def scenario() -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            sse_client(f"{live.origin}{SSE}", headers=headers) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            stored = await session.call_tool("store_memory", {"text": "Ada keeps bees."})
            assert not stored.is_error
            found = await session.call_tool("search_memories", {"query": "bees"})
            assert found.structured_content is not None
            assert found.structured_content["memories"][0]["text"] == "Ada keeps bees."

    anyio.run(scenario)


# What follows needs no open stream.


@pytest.mark.parametrize("path", [SSE, f"{SSE}/", MESSAGES, f"{MESSAGES}?session_id=x"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE"])
def test_c20_without_a_token_the_challenge_names_the_streams_metadata(
    browser: TestClient, settings: Settings, path: str, method: str
) -> None:
    answer = Caller(browser, path=path).request(method)
    assert answer.status_code == 401
    metadata = f"{settings.origin}/.well-known/oauth-protected-resource/api/mcp/sse"
    assert f'resource_metadata="{metadata}"' in answer.headers["www-authenticate"]


def test_a_client_that_posts_to_the_streams_address_gets_streamable_http(caller: Caller) -> None:
    assert Caller(caller.browser, caller.token, SSE).tools() == caller.tools()


@pytest.mark.parametrize(("path", "allowed"), [(SSE, "GET, POST, OPTIONS"), (MESSAGES, "POST")])
@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE"])
def test_c20_other_methods_are_not_allowed_on_the_streams_addresses(
    caller: Caller, path: str, allowed: str, method: str
) -> None:
    answer = Caller(caller.browser, caller.token, path).request(method)
    assert answer.status_code == 405
    assert answer.headers["allow"].startswith(allowed)


@pytest.mark.parametrize("path", [SSE, MESSAGES])
def test_c17_browsers_may_use_the_streams_addresses(browser: TestClient, path: str) -> None:
    preflight = browser.options(
        path,
        headers={
            "Origin": "http://localhost:6274",
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "authorization,last-event-id",
        },
    )
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"


def test_c22_a_foreign_origin_opens_no_stream(caller: Caller) -> None:
    answer = Caller(caller.browser, caller.token, SSE).request(
        "GET", {"Origin": "https://evil.example"}
    )
    assert answer.status_code == 403
