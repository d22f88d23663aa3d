"""Smart Memory and the overview as an AI client gets them."""

from typing import Any

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from recall.memories import store_memory
from tests.api.mcp_server.calls import Caller, CallerFor
from tests.recall.categories.lives import ALL, CELLO
from tests.recall.chats import GARDEN, TRAVEL, keep


@pytest.fixture
def bucket(kernel: Kernel, principal: Principal) -> int:
    """A bucket with fifteen memories about three things."""
    (number,) = {store_memory(kernel, principal, text).bucket_id for text in ALL}
    return number


def result_of(answer: dict[str, Any]) -> dict[str, Any]:
    assert not answer.get("isError"), answer
    structured: dict[str, Any] = answer["structuredContent"]
    return structured


def test_a_client_reads_summaries_first_and_then_the_category_it_needs(
    caller: Caller, bucket: int
) -> None:
    answer = caller.call("list_bucket_categories", {"bucketId": str(bucket)})
    listed = result_of(answer)
    assert (listed["state"], listed["memoryCount"], len(listed["recentMemories"])) == (
        "ready",
        15,
        15,
    )
    category = next(each for each in listed["categories"] if "cello" in each["name"].lower())
    assert category["pointers"]
    text = answer["content"][0]["text"]
    assert category["categoryId"] in text
    assert "list_category_memories" in text
    page = result_of(
        caller.call(
            "list_category_memories",
            {"bucketId": bucket, "categoryId": category["categoryId"], "limit": 3},
        )
    )
    assert page["memoryCount"] == category["memoryCount"]
    assert len(page["memories"]) == 3
    assert {each["text"] for each in page["memories"]} <= set(CELLO)


def test_the_bucket_id_may_be_a_number_or_text(caller: Caller, bucket: int) -> None:
    for value in (bucket, str(bucket), float(bucket), f" {bucket} "):
        assert result_of(caller.call("list_bucket_categories", {"bucketId": value}))["categories"]


def test_an_unknown_category_is_an_error_that_says_where_to_look(
    caller: Caller, bucket: int
) -> None:
    answer = caller.call("list_category_memories", {"bucketId": bucket, "categoryId": "nowhere"})
    assert answer["isError"]
    assert "list_bucket_categories" in answer["content"][0]["text"]


def test_the_overview_holds_portrait_and_inventory_with_sources(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    ids = keep(kernel, principal, GARDEN, TRAVEL)
    answer = caller.call("chat_history_overview")
    found = result_of(answer)
    assert found["inventory"]["conversations"] == 2
    assert {each["cited"][0]["conversationId"] for each in found["portrait"]["topics"]} == set(ids)
    text = answer["content"][0]["text"]
    assert "# Portrait" in text
    assert "# Inventory" in text
    assert "left out of the portrait" in text


def test_they_need_no_more_than_the_permission_to_read_memories(caller_for: CallerFor) -> None:
    tools = {"list_bucket_categories", "list_category_memories", "chat_history_overview"}
    assert tools <= set(caller_for("memory:read").tools())
    assert tools.isdisjoint(caller_for("chat-history:read").tools())


def test_the_overview_takes_nothing(caller: Caller) -> None:
    answer = caller.call("chat_history_overview", {"query": "garden"})
    assert answer["isError"]
    assert "takes no parameters" in answer["content"][0]["text"]
