"""Tools beyond the contract: `search` and `fetch`, forgetting, and a span of time."""

import json

import pytest
from starlette.testclient import TestClient

from backread.domain import Principal
from backread.kernel import Kernel
from backread.settings import Settings
from tests.api.mcp_server.calls import Caller, CallerFor
from tests.recall.chats import GARDEN, TRAVEL, Chat, keep

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

FORGETTING = {"forget_memories", "delete_bucket", "undo_forget"}


def test_c29_search_and_fetch_have_chatgpts_form(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    garden, _ = keep(kernel, principal, GARDEN, TRAVEL)
    found = caller.call("search", {"query": "cedar soil Hollis Nursery"})
    (content,) = found["content"]
    results = json.loads(content["text"])
    assert results == found["structuredContent"]
    first = results["results"][0]
    assert first["id"] == garden
    assert first["title"].startswith("Raised beds")
    assert first["url"].startswith(f"{kernel.settings.origin}/c/{garden}")
    assert len({each["id"] for each in results["results"]}) == len(results["results"])
    fetched = caller.call("fetch", {"id": first["id"]})
    document = json.loads(fetched["content"][0]["text"])
    assert document == fetched["structuredContent"] | {"metadata": document["metadata"]}
    assert set(document) == {"id", "title", "text", "url", "metadata"}
    assert document["url"] == f"{kernel.settings.origin}/c/{garden}"
    assert all(turn in document["text"] for turn in GARDEN.turns)
    assert document["metadata"]["platform"] == "chatgpt"


def test_a_search_without_a_match_is_an_empty_list(caller: Caller) -> None:
    found = caller.call("search", {"query": "zeppelin"})
    assert json.loads(found["content"][0]["text"])["results"] == []
    missing = caller.call("fetch", {"id": "unknown"})
    assert missing["isError"] is True


def test_a_long_document_names_its_next_page(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    turns = [f"Turn {number}. " + "The river rose again. " * 60 for number in range(160)]
    (ident,) = keep(kernel, principal, Chat("River log", turns), index=False)
    text = ""
    wanted = ident
    while wanted:
        document = caller.call("fetch", {"id": wanted})["structuredContent"]
        text += document["text"]
        wanted = document["metadata"]["nextId"]
    assert all(f"Turn {number}. " in text for number in range(160))


def test_a_client_that_may_only_read_gets_a_read_only_profile(caller_for: CallerFor) -> None:
    caller = caller_for("memory:read", "chat-history:read")
    tools = caller.rpc("tools/list").json()["result"]["tools"]
    assert {"search", "fetch", "recall_chat_history"} <= {tool["name"] for tool in tools}
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)


def test_forgetting_works_over_mcp_and_can_be_undone(caller: Caller) -> None:
    stored = caller.call("store_memory", {"text": "The gate code is 4711."})["structuredContent"]
    gone = caller.call("forget_memories", {"memoryIds": [stored["memoryId"]]})
    assert "undo_forget" in gone["content"][0]["text"]
    undo_id = gone["structuredContent"]["undoId"]
    assert not caller.call("search_memories", {"query": "gate"})["structuredContent"]["memories"]
    assert caller.call("undo_forget", {"undoId": undo_id})["structuredContent"]["restored"] == 1
    assert caller.call("search_memories", {"query": "gate"})["structuredContent"]["memories"]
    made = caller.call("create_bucket", {"name": "Shed"})["structuredContent"]["bucketId"]
    assert not caller.call("delete_bucket", {"bucketId": str(made)}).get("isError")
    refused = caller.call("delete_bucket", {"bucketId": stored["bucketId"]})
    assert refused["isError"] is True
    too_many = caller.call("forget_memories", {"memoryIds": ["x"] * 101})
    assert "memoryIds" in too_many["content"][0]["text"]


class TestWithSettingsOff:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"forget_tools": False, "chatgpt_tools": False})

    def test_what_is_switched_off_is_neither_shown_nor_called(
        self, caller: Caller, signed_in: TestClient
    ) -> None:
        off = FORGETTING | {"search", "fetch"}
        assert not off & set(caller.tools())
        for name in off:
            answer = caller.rpc("tools/call", {"name": name, "arguments": {}}).json()
            assert "Unknown tool" in answer["error"]["message"]


def test_everything_between_two_times_comes_in_order_without_a_query(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    garden, travel = keep(kernel, principal, GARDEN, TRAVEL)
    found = caller.call("recall_chat_history", {"after": "2024-01-01", "before": "2024-12-31"})
    result = found["structuredContent"]
    assert [each["conversationId"] for each in result["sources"]] == [garden, travel]
    assert result["answers"][0]["found"] is True
    assert result["answers"][0]["conversationsSearched"] == 2
    assert GARDEN.turns[0] in found["content"][0]["text"]
    march = caller.call("recall_chat_history", {"after": "2024-03", "before": "2024-03"})
    assert [each["conversationId"] for each in march["structuredContent"]["sources"]] == [garden]
    none = caller.call("recall_chat_history", {"before": "2020-01-01"})
    assert "Nothing in that window (0 of 2" in none["content"][0]["text"]


def test_a_full_span_says_how_to_go_on(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    chats = [Chat(f"Chat {number}", [f"Question {number}?", "An answer."]) for number in range(80)]
    keep(kernel, principal, *chats, index=False)
    found = caller.call("recall_chat_history", {"after": "2024-01-01"})
    text = found["content"][0]["text"]
    assert "more conversations in that time; call again with after" in text
    assert found["structuredContent"]["answers"][0]["tokens"] <= 600
