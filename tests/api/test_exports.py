"""Links to exported conversations: who may open one, how often, how long, and what is logged."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import structlog
from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from api.exports import ExportDoor
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.log import configure
from backread.settings import Settings
from backread.store.models import Account, ExportLink
from ingest.deleting import delete_conversation
from recall.exporting import clear_ended_exports, export_conversation
from tests.api.mcp_server.calls import Caller
from tests.api.oauth.flow import new_flow
from tests.recall.chats import GARDEN, Chat, keep


@pytest.fixture
def principal(owner: Account) -> Principal:
    return Principal(owner.id, scopes=frozenset(Scope))


@pytest.fixture
def link(kernel: Kernel, principal: Principal) -> str:
    """The path of a fresh link to the garden chat."""
    (garden,) = keep(kernel, principal, GARDEN, index=False)
    return path_of(export_conversation(kernel, principal, garden).url, kernel)


def path_of(url: str, kernel: Kernel) -> str:
    assert url.startswith(f"{kernel.settings.origin}/exports/")
    return url.removeprefix(kernel.settings.origin)


def get(browser: TestClient, path: str, **headers: str) -> Any:
    """As an agent asks: no cookies."""
    browser.cookies.clear()
    return browser.get(path, headers={"Accept": "*/*", **headers})


def test_the_tool_gives_an_address_that_opens_the_whole_conversation(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    (garden,) = keep(kernel, principal, GARDEN, index=False)
    caller = Caller(signed_in, new_flow(signed_in).tokens()["access_token"])
    result = caller.call("export_conversation", {"conversationId": garden})["structuredContent"]
    answer = get(signed_in, path_of(result["url"], kernel))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    exported = answer.json()
    assert exported["format"] == "backread.conversation.v1"
    assert exported["conversation"]["conversationId"] == garden
    assert [each["text"] for each in exported["messages"]] == list(GARDEN.turns)
    assert {each["onShownLine"] for each in exported["messages"]} == {True}
    assert [each["role"] for each in exported["messages"]] == ["user", "assistant"] * 2


def test_a_long_conversation_is_sent_in_pieces_and_whole(
    browser: TestClient, kernel: Kernel, principal: Principal
) -> None:
    turns = [f"Turn {number}, with “quotes” and a line\nbreak." for number in range(900)]
    (ident,) = keep(kernel, principal, Chat("River log", turns), index=False)
    path = path_of(export_conversation(kernel, principal, ident).url, kernel)
    browser.cookies.clear()
    with browser.stream("GET", path) as answer:
        pieces = list(answer.iter_raw())
    assert "content-length" not in answer.headers
    assert len(pieces) > 4
    exported = json.loads(b"".join(pieces))
    assert [each["text"] for each in exported["messages"]] == turns


def test_it_may_not_be_kept_indexed_or_run(browser: TestClient, link: str) -> None:
    answer = get(browser, link)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "noindex" in answer.headers["x-robots-tag"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"].startswith('attachment; filename="conversation-')
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "set-cookie" not in answer.headers


def test_it_is_alive_a_moment_before_fifteen_minutes_and_dead_at_fifteen(
    app: FastAPI, browser: TestClient, kernel: Kernel, link: str
) -> None:
    with kernel.store.read() as session:
        row = session.scalars(select(ExportLink)).one()
    assert row.expires_at - row.created_at == timedelta(minutes=15)
    app.state.export_door = ExportDoor(lambda: row.expires_at - timedelta(microseconds=1))
    assert get(browser, link).status_code == 200
    app.state.export_door = ExportDoor(lambda: row.expires_at)
    assert get(browser, link).status_code == 404


def test_it_opens_five_times_and_looking_does_not_count(browser: TestClient, link: str) -> None:
    for _ in range(3):
        assert browser.head(link).status_code == 200
    assert [get(browser, link).status_code for _ in range(6)] == [200] * 5 + [404]
    assert browser.head(link).status_code == 404


def test_of_ten_who_open_it_at_once_five_get_it_whole(browser: TestClient, link: str) -> None:
    with ThreadPoolExecutor(10) as people:
        answers = list(people.map(lambda _: browser.get(link), range(10)))
    assert sorted(each.status_code for each in answers) == [200] * 5 + [404] * 5
    assert len({each.text for each in answers if each.status_code == 404}) == 1
    for answer in answers:
        if answer.status_code == 200:
            assert [each["text"] for each in answer.json()["messages"]] == list(GARDEN.turns)


def test_a_range_gets_the_whole_file(browser: TestClient, link: str) -> None:
    answer = get(browser, link, Range="bytes=0-9")
    assert answer.status_code == 200
    assert answer.headers["accept-ranges"] == "none"
    assert answer.json()["messages"]


def test_wrong_ended_used_up_and_deleted_look_alike(
    browser: TestClient, kernel: Kernel, principal: Principal, link: str
) -> None:
    conversation_id = get(browser, link).json()["conversation"]["conversationId"]
    for _ in range(4):
        get(browser, link)
    fresh = path_of(export_conversation(kernel, principal, conversation_id).url, kernel)
    delete_conversation(kernel, principal, conversation_id)
    answers = [
        get(browser, path)
        for path in (
            link,
            fresh,
            "/exports/unknown",
            f"/exports/{'x' * 43}",
            f"/exports/{'y' * 900}",
        )
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    with kernel.store.read() as session:
        assert session.scalars(select(ExportLink)).all() == []


def test_only_a_hash_of_the_token_is_stored_and_nothing_of_it_is_logged(
    browser: TestClient, kernel: Kernel, link: str, capsys: pytest.CaptureFixture[str]
) -> None:
    token = link.rsplit("/", 1)[1]
    assert len(token) == 43  # 256 bits in base 64
    with kernel.store.read() as session:
        row = session.scalars(select(ExportLink)).one()
    assert token not in str(
        {column.name: getattr(row, column.name) for column in row.__table__.columns}
    )
    for path in (link, f"{link}x"):
        get(browser, path)
        browser.head(path)
    output = capsys.readouterr()
    assert token not in output.out + output.err


def test_an_error_while_it_opens_does_not_log_it_either(
    app: FastAPI, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr("api.exports.open_export", broken)
    before = structlog.get_config()
    configure()  # as every process of the server does
    try:
        with TestClient(app, base_url=settings.origin, raise_server_exceptions=False) as client:
            assert client.get("/exports/s3cret-t0ken-of-an-export").status_code == 500
    finally:
        structlog.configure(**before)
    output = capsys.readouterr()
    assert "/exports/" in output.err
    assert "RuntimeError" in output.err
    assert "s3cret-t0ken" not in output.out + output.err


def test_too_many_tries_are_told_to_wait(browser: TestClient, owner: Account) -> None:
    answers = [get(browser, f"/exports/guess-{number}") for number in range(31)]
    assert [answer.status_code for answer in answers] == [404] * 30 + [429]
    assert int(answers[-1].headers["retry-after"]) > 0


def test_upkeep_clears_ended_links_away(kernel: Kernel, principal: Principal, link: str) -> None:
    clear_ended_exports(kernel)
    with kernel.store.write() as session:
        row = session.scalars(select(ExportLink)).one()
        row.expires_at = row.created_at
    clear_ended_exports(kernel)
    with kernel.store.read() as session:
        assert session.scalars(select(ExportLink)).all() == []
