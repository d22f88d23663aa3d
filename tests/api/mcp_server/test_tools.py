import json
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from sqlalchemy import select

from api.mcp_server import server
from api.mcp_server.tools import TOOLS
from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Conversation
from backread.tokens import estimate_tokens
from tests.api.mcp_server.calls import Caller, CallerFor
from tests.conftest import new_principal
from tests.ingest.exports import claude, claude_message, import_files, write
from tests.recall.chats import GARDEN, TRAVEL, Chat, keep

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

DEFINITIONS = [tool.definition().model_dump(by_alias=True, exclude_none=True) for tool in TOOLS]


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def test_recall_answers_with_sources_that_the_other_tools_take(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    garden, _ = keep(kernel, principal, GARDEN, TRAVEL)
    found = caller.call("recall_chat_history", {"query": "cedar soil from Hollis Nursery"})
    source = found["structuredContent"]["sources"][0]
    assert source["conversationId"] == garden
    assert source["readerUrl"].startswith("http://127.0.0.1:8787/c/")
    assert garden in text_of(found)
    summary = caller.call("get_conversation_summary", {"conversationId": garden})
    assert "cedar" in text_of(summary)
    whole = caller.call("get_full_conversation", {"conversationId": garden})
    assert "Hollis Nursery" in text_of(whole)
    assert len(whole["structuredContent"]["messages"]) == 4


def test_results_match_their_output_schemas(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    undated = Chat("No dates", ["What is a lintel?", "A beam over a door."], at=None)
    _, ident = keep(kernel, principal, GARDEN, undated)
    calls: dict[str, dict[str, Any]] = {
        "recall_chat_history": {"queries": [{"query": "lintel"}, {"query": "cedar beds"}]},
        "get_conversation_summary": {"conversationId": ident},
        "get_full_conversation": {"conversationId": ident},
        "store_memory": {"text": "The lintel is oak."},
        "search_memories": {"query": "lintel"},
        "list_buckets": {},
        "get_memories_and_buckets": {},
        "export_conversation": {"conversationId": ident},
        "create_bucket": {"name": "Beams"},
        "search": {"query": "lintel"},
        "fetch": {"id": ident},
    }
    for definition in DEFINITIONS:
        name = definition["name"]
        if name not in calls:
            continue  # called with what it needs in the tests of its own, or in `contract`
        result = caller.call(name, calls[name])
        assert not result.get("isError"), result
        Draft202012Validator(definition["outputSchema"]).validate(result["structuredContent"])


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("recall_chat_history", {}, "query"),
        ("recall_chat_history", {"query": "x", "maxTokens": 2001}, "maxTokens"),
        ("recall_chat_history", {"query": "x", "maxTokens": "many"}, "maxTokens"),
        ("recall_chat_history", {"query": "x", "mode": "fast"}, "mode"),
        ("recall_chat_history", {"query": "x", "after": "last week-ish"}, "after"),
        ("recall_chat_history", {"queries": [{"query": "x"}] * 16}, "queries"),
        ("recall_chat_history", {"queries": []}, "queries"),
        ("recall_chat_history", {"queries": "[" * 100_000}, "queries"),
        ("recall_chat_history", {"queries": '{"query": "x"}'}, "queries"),
        ("recall_chat_history", {"query": "x", "startDate": "2024-01-01"}, "startDate"),
        (
            "recall_chat_history",
            {"query": "x", "conversationHistory": [{"role": "user", "content": "y"}] * 51},
            "conversationHistory",
        ),
        ("get_full_conversation", {}, "conversationId"),
        ("get_full_conversation", {"conversationId": "unknown"}, "recall_chat_history"),
        ("get_full_conversation", {"conversationId": "a:b"}, "conversationId"),
        ("get_conversation_summary", {"conversationId": 7}, "conversationId"),
        ("store_memory", {"text": ""}, "empty"),
        ("store_memory", {"text": "x", "bucketId": "seven"}, "list_buckets"),
        ("store_memory", {"text": "x", "bucketId": 999}, "list_buckets"),
        ("search_memories", {"query": "x", "limit": 21}, "limit"),
        ("search_memories", {"query": "x", "bucketId": True}, "bucketId"),
        ("list_buckets", {"page": 2}, "page"),
    ],
)
def test_a_wrong_call_is_told_how_to_be_right(
    caller: Caller, tool: str, arguments: dict[str, Any], words: str
) -> None:
    result = caller.call(tool, arguments)
    assert result["isError"] is True
    assert words in text_of(result)
    assert "Traceback" not in text_of(result)
    assert "structuredContent" not in result


def test_nulls_and_nested_json_text_are_taken_as_meant(caller: Caller) -> None:
    result = caller.call(
        "recall_chat_history",
        {"query": None, "queries": '[{"query": "beds", "maxTokens": 300.0}]', "mode": None},
    )
    assert not result.get("isError"), result
    assert result["structuredContent"]["answers"][0]["query"] == "beds"


def test_another_accounts_conversation_looks_like_none(caller: Caller, kernel: Kernel) -> None:
    stranger = new_principal(kernel.store, "boris@example.org")
    (foreign,) = keep(kernel, stranger, GARDEN)
    for tool in ("get_full_conversation", "get_conversation_summary"):
        theirs = text_of(caller.call(tool, {"conversationId": foreign}))
        nobody = text_of(caller.call(tool, {"conversationId": foreign[::-1]}))
        assert theirs == nobody
    found = caller.call("recall_chat_history", {"query": "cedar beds soil"})
    assert found["structuredContent"]["answers"][0]["found"] is False


def test_c34_a_long_conversation_comes_in_pages_that_together_are_whole(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    turns = [
        f"Turn {number}. " + "The river level rose again today. " * 40 for number in range(160)
    ]
    (ident,) = keep(kernel, principal, Chat("River log", turns), index=False)
    wanted, seen = ident, []
    while wanted:
        result = caller.call("get_full_conversation", {"conversationId": wanted})
        text = text_of(result)
        assert estimate_tokens(text) <= 20_000
        assert estimate_tokens(json.dumps(result["structuredContent"])) <= 20_000
        seen += [message["text"] for message in result["structuredContent"]["messages"]]
        wanted = f"{ident}:page={result['structuredContent']['page'] + 1}"
        if wanted not in text:
            break
    assert [text.split(".")[0] for text in seen] == [f"Turn {number}" for number in range(160)]


def test_c34_one_enormous_message_is_cut_and_says_where_the_rest_is(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    (ident,) = keep(kernel, principal, Chat("Dump", ["word " * 60_000, "Thanks."]), index=False)
    result = caller.call("get_full_conversation", {"conversationId": ident})
    assert estimate_tokens(text_of(result)) <= 20_000
    assert "more characters; the whole message is at http://127.0.0.1:8787/c/" in text_of(result)


def test_c34_fifteen_large_budgets_stay_within_what_clients_take(
    caller: Caller, kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, GARDEN, TRAVEL)
    queries = [{"query": f"cedar soil tomatoes {n}", "maxTokens": 2000} for n in range(15)]
    result = caller.call("recall_chat_history", {"queries": queries})
    assert len(result["structuredContent"]["answers"]) == 15
    assert estimate_tokens(text_of(result)) <= 20_000


def test_c34_a_call_that_takes_too_long_is_cut_off_with_advice(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any answer at all needs longer than no time."""
    monkeypatch.setattr(server, "TOOL_SECONDS", 0.0)
    begin = time.monotonic()
    result = caller.call("list_buckets")
    assert result["isError"] is True
    assert "was stopped" in text_of(result)
    assert time.monotonic() - begin < 10


def test_memories_remember_which_client_stored_them(caller_for: CallerFor) -> None:
    caller = caller_for("memory:read", "memory:write")
    caller.call("store_memory", {"text": "Ada keeps bees."})
    found = caller.call("search_memories", {"query": "bees"})["structuredContent"]
    assert found["memories"][0]["storedBy"].startswith("brc_")


def test_artifacts_of_any_size_and_number_stay_within_what_clients_take(
    caller: Caller, kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    def made(number: int, text: str) -> dict[str, Any]:
        given = {"id": f"a{number}", "title": "A" * 900, "command": "create", "content": text}
        return {"type": "tool_use", "name": "artifacts", "input": given}

    blocks = [made(n % 300, "short") for n in range(3000)] + [made(7, "word " * 60_000)]
    answer = claude_message("m", "assistant", "", content=blocks)
    import_files(kernel, principal, write(tmp_path / "c.json", [claude("c", ("Make it.", answer))]))
    with kernel.store.read() as session:
        ident = session.scalars(select(Conversation.id)).one()
    wanted, page = ident, 0
    while wanted:
        result = caller.call("get_full_conversation", {"conversationId": wanted})
        assert estimate_tokens(text_of(result)) <= 20_000
        assert estimate_tokens(json.dumps(result["structuredContent"])) <= 20_000
        page += 1
        wanted = f"{ident}:page={page + 1}" if page < result["structuredContent"]["pages"] else ""
    assert "more characters; the whole artifact is at http://127.0.0.1:8787/c/" in text_of(result)
