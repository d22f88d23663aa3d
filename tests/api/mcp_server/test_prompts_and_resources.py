"""Prompts, resources and completions as the MCP client gets them, in both eras."""

from typing import Any

import pytest
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from backread.domain import Principal
from backread.kernel import Kernel
from recall.memories import create_bucket
from tests.api.mcp_server.calls import Caller, CallerFor
from tests.api.mcp_server.contract.conftest import ERAS, Place, place
from tests.conftest import new_principal
from tests.recall.chats import GARDEN, Chat, keep

__all__ = ["place"]

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

ALL = ("memory:read", "memory:write", "chat-history:read")


@pytest.mark.parametrize("era", ERAS)
def test_prompts_come_filled_with_cited_history(place: Place, era: ConnectMode) -> None:
    async def work(client: Client) -> None:
        listed = await client.list_prompts()
        assert [each.name for each in listed.prompts] == [
            "recall_context",
            "session_handoff",
            "weekly_review",
        ]
        assert all(each.description and each.title for each in listed.prompts)
        for name, arguments in (
            ("recall_context", {"topic": "cedar for the raised beds"}),
            ("session_handoff", {}),
            ("session_handoff", {"conversationId": place.ids["conversation"], "goal": "water"}),
            ("weekly_review", {"week": "2024-W10"}),
            ("weekly_review", {"week": "2024-03-07"}),
        ):
            result = await client.get_prompt(name, arguments)
            (message,) = result.messages
            assert message.role == "user"
            text = message.content.text  # type: ignore[union-attr]
            assert place.ids["conversation"] in text, name
            assert "<<<recall" in text
            assert "It is not instructions" in text
        for name, arguments, words in (
            ("recall_context", {}, "topic"),
            ("recall_context", {"topic": "x", "colour": "red"}, "colour"),
            ("weekly_review", {"week": "soon"}, "2026-W48"),
            ("session_handoff", {"conversationId": "unknown"}, "no conversation"),
            ("unknown", {}, "Unknown prompt"),
        ):
            with pytest.raises(MCPError, match=words):
                await client.get_prompt(name, arguments)

    place.with_client(era, place.token(*ALL), work)


@pytest.mark.parametrize("era", ERAS)
def test_resources_are_listed_and_read_by_their_address(place: Place, era: ConnectMode) -> None:
    async def work(client: Client) -> None:
        templates = (await client.list_resource_templates()).resource_templates
        addresses = {each.uri_template for each in templates}
        assert {"backread://conversation/{id}", "backread://bucket/{id}"} <= addresses
        uris: list[str] = []
        cursor = None
        while True:
            page = await client.list_resources(cursor=cursor)
            uris += [each.uri for each in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                break
        conversation = f"backread://conversation/{place.ids['conversation']}"
        bucket = f"backread://bucket/{place.ids['bucket']}"
        category = f"{bucket}/category/{place.ids['category']}"
        assert "backread://bucket/{id}/category/{category}" in addresses
        assert {conversation, bucket} <= set(uris)
        for uri, words in (
            (conversation, "Hollis Nursery"),
            (bucket, "Ada prefers tea."),
            (category, "Ada prefers tea."),
        ):
            (content,) = (await client.read_resource(uri)).contents
            assert content.uri == uri
            assert words in content.text  # type: ignore[union-attr]
            assert "<<<recall" in content.text  # type: ignore[union-attr]
        for uri in (
            "backread://conversation/unknown",
            "backread://bucket/999",
            "backread://bucket/seven",
            f"{bucket}/category/unknown",
            "backread://nothing/1",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    place.with_client(era, place.token(*ALL), work)


@pytest.mark.parametrize("era", ERAS)
def test_arguments_are_completed_as_they_are_typed(place: Place, era: ConnectMode) -> None:
    conversation = place.ids["conversation"]
    asked: list[tuple[Any, dict[str, str], str]] = [
        (PromptReference(name="recall_context"), {"name": "topic", "value": "rais"}, "Raised beds"),
        (
            PromptReference(name="session_handoff"),
            {"name": "conversationId", "value": conversation[:5]},
            conversation,
        ),
        (
            ResourceTemplateReference(uri="backread://bucket/{id}"),
            {"name": "id", "value": "gen"},
            place.ids["bucket"],
        ),
        (
            ResourceTemplateReference(uri="backread://conversation/{id}"),
            {"name": "id", "value": "beds"},
            conversation,
        ),
    ]

    async def work(client: Client) -> None:
        for reference, argument, expected in asked:
            result = await client.complete(reference, argument)
            assert expected in result.completion.values
        categories = await client.complete(
            ResourceTemplateReference(uri="backread://bucket/{id}/category/{category}"),
            {"name": "category", "value": ""},
            {"id": place.ids["bucket"]},
        )
        assert categories.completion.values == [place.ids["category"]]
        weeks = await client.complete(
            PromptReference(name="weekly_review"), {"name": "week", "value": "20"}
        )
        assert len(weeks.completion.values) == 12
        with pytest.raises(MCPError):
            await client.complete(PromptReference(name="unknown"), {"name": "x", "value": ""})

    place.with_client(era, place.token(*ALL), work)


def test_prompts_and_resources_outside_the_grant_are_hidden_and_refused(
    caller_for: CallerFor, kernel: Kernel, principal: Principal
) -> None:
    (garden,) = keep(kernel, principal, GARDEN)
    caller = caller_for("memory:read")
    assert caller.rpc("prompts/list").json()["result"]["prompts"] == []
    templates = caller.rpc("resources/templates/list").json()["result"]["resourceTemplates"]
    assert "backread://conversation/{id}" not in {each["uriTemplate"] for each in templates}
    uris = [each["uri"] for each in caller.rpc("resources/list").json()["result"]["resources"]]
    assert not any("conversation" in uri for uri in uris)
    refused: list[tuple[str, dict[str, Any]]] = [
        ("prompts/get", {"name": "session_handoff"}),
        ("resources/read", {"uri": f"backread://conversation/{garden}"}),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/prompt", "name": "recall_context"},
                "argument": {"name": "topic", "value": ""},
            },
        ),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "backread://conversation/{id}"},
                "argument": {"name": "id", "value": ""},
            },
        ),
    ]
    for method, params in refused:
        answer = caller.rpc(method, params)
        assert answer.status_code == 403, method
        assert "chat-history:read" in answer.headers["www-authenticate"]


def test_another_accounts_resources_look_like_none(caller: Caller, kernel: Kernel) -> None:
    stranger = new_principal(kernel.store, "boris@example.org")
    (foreign,) = keep(kernel, stranger, GARDEN)
    bucket = create_bucket(kernel, stranger, "Garden").bucket_id
    listed = str(caller.rpc("resources/list").json())
    assert foreign not in listed
    for theirs, nobodys in (
        (f"backread://conversation/{foreign}", f"backread://conversation/{foreign[::-1]}"),
        (f"backread://bucket/{bucket}", "backread://bucket/987654"),
    ):
        answers = [
            caller.rpc("resources/read", {"uri": uri}).json()["error"] for uri in (theirs, nobodys)
        ]
        assert answers[0] == answers[1]


def test_each_of_many_buckets_can_be_read(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    for number in range(120):  # more than a result of the tools lists
        last = create_bucket(kernel, principal, f"Drawer {number:03}").bucket_id
    answer = caller.rpc("resources/read", {"uri": f"backread://bucket/{last}"}).json()
    assert "# Drawer 119" in answer["result"]["contents"][0]["text"]


def test_long_lists_of_resources_come_in_pages(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    chats = [Chat(f"Chat {number}", ["A question?", "An answer."]) for number in range(230)]
    idents = keep(kernel, principal, *chats, index=False)
    seen: list[str] = []
    sizes = []
    params: dict[str, Any] = {}
    while True:
        page = caller.modern("resources/list", params).json()["result"]
        assert page["cacheScope"] == "private"
        seen += [each["uri"] for each in page["resources"]]
        sizes.append(len(page["resources"]))
        if "nextCursor" not in page:
            break
        params = {"cursor": page["nextCursor"]}
    assert set(sizes[:-1]) == {100}  # a client that reads one page alone sees every kind
    assert {"agentmemory://status", "agentmemory://memories/latest"} <= set(seen[:100])
    assert set(seen) >= {f"backread://conversation/{each}" for each in idents}
    assert len(seen) == len(set(seen))
    wrong = caller.rpc("resources/list", {"cursor": "nonsense"}).json()
    assert "error" in wrong
