"""Whatever a model or an attacker puts into a tool call gets a sensible answer."""

import time
from typing import Any

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from recall.memories import list_buckets, store_memory
from tests.api.mcp_server.calls import Caller
from tests.conftest import new_principal
from tests.recall.chats import GARDEN, TRAVEL, keep

TEXTS = {
    "nul": "cedar\x00beds",
    "control characters": "\x01\x02\x0b\x1f\x7f\x85 cedar",
    "only NUL": "\x00",
    "only stop words": "what did the of and",
    "only punctuation": "!?.,;:-_()[]{}'\"*^&|~`\\/<>%#@",
    "only emoji": "🙂👩‍👩‍👧‍👦🏳️‍🌈",
    "Chinese": "雪松种植床的土壤",
    "right to left": "\u202eتربة أحواض الأرز\u202c",
    "tags and bidi": "\U000e0041\u2066cedar\u2069\u200b",
    "full text syntax": 'NEAR(a b) AND OR NOT "open (x* ^y :z - -"q',
    "SQL": "'); DROP TABLE passages; --",
    "a very long word": "x" * 5_000,
    "many words": "cedar " * 800,
    "dates beyond calendars": "in 99999, on 0000-00-00 or 31 February 2024, last 10000000 years",
    "a format string": "%s %(x)s {0.__class__} ${jndi:x}",
}
BEYOND_LIMITS = "cedar " * 150_000  # about 900 kB


def _answers(caller: Caller, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    started = time.process_time()
    result = caller.call(tool, arguments)
    assert time.process_time() - started < 20
    assert "Something went wrong" not in result["content"][0]["text"]
    return result


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_any_text_is_an_answer_or_a_refusal_in_words(
    caller: Caller, kernel: Kernel, principal: Principal, text: str
) -> None:
    garden, _ = keep(kernel, principal, GARDEN, TRAVEL)
    for tool, arguments in (
        ("recall_chat_history", {"query": text}),
        ("recall_chat_history", {"query": "cedar", "mode": "quality", "platform": text[:200]}),
        ("recall_chat_history", {"query": "it", "conversationContext": text}),
        (
            "recall_chat_history",
            {"query": "it", "conversationHistory": [{"role": "user", "content": text}] * 50},
        ),
        ("recall_chat_history", {"query": "cedar", "after": text[:200]}),
        ("get_conversation_summary", {"conversationId": text}),
        ("get_conversation_summary", {"conversationId": garden, "query": text}),
        ("get_full_conversation", {"conversationId": text}),
        ("search_memories", {"query": text, "bucketId": text}),
        ("store_memory", {"text": text}),
        ("search_memories", {"query": text}),
    ):
        _answers(caller, tool, arguments)
    assert not _answers(caller, "recall_chat_history", {"query": "cedar"}).get("isError")


def test_texts_beyond_every_limit_are_refused_in_words(caller: Caller) -> None:
    for tool, argument in (
        ("recall_chat_history", "query"),
        ("search_memories", "query"),
        ("store_memory", "text"),
        ("get_full_conversation", "conversationId"),
        ("get_conversation_summary", "conversationId"),
    ):
        assert _answers(caller, tool, {argument: BEYOND_LIMITS})["isError"]


_WRONG: list[Any] = [None, 0, -1, 2**63, 2**200, 1.5, True, [], {}, [[]], {"a": []}, ["x"], "", "1"]


@pytest.mark.parametrize(
    ("tool", "parameter"),
    [
        ("recall_chat_history", "query"),
        ("recall_chat_history", "queries"),
        ("recall_chat_history", "maxTokens"),
        ("recall_chat_history", "before"),
        ("recall_chat_history", "after"),
        ("recall_chat_history", "mode"),
        ("recall_chat_history", "platform"),
        ("recall_chat_history", "conversationContext"),
        ("recall_chat_history", "conversationHistory"),
        ("get_conversation_summary", "conversationId"),
        ("get_full_conversation", "conversationId"),
        ("store_memory", "text"),
        ("store_memory", "bucketId"),
        ("search_memories", "query"),
        ("search_memories", "bucketId"),
        ("search_memories", "limit"),
    ],
)
def test_a_parameter_of_a_wrong_type_is_refused_in_words_or_read_for_what_it_means(
    caller: Caller, tool: str, parameter: str
) -> None:
    valid = {"recall_chat_history": {"query": "cedar"}, "search_memories": {"query": "cedar"}}
    valid["store_memory"] = {"text": "Likes cedar."}
    for value in _WRONG:
        _answers(caller, tool, {**valid.get(tool, {}), parameter: value})


def test_a_foreign_bucket_or_chat_is_answered_like_one_that_is_missing(
    caller: Caller, kernel: Kernel
) -> None:
    stranger = new_principal(kernel.store, "boris@example.org")
    (chat,) = keep(kernel, stranger, GARDEN)
    store_memory(kernel, stranger, "Boris has a dog.")
    (bucket,) = list_buckets(kernel, stranger).buckets
    for tool, parameter, foreign, missing, more in (
        ("get_full_conversation", "conversationId", chat, "0" * 26, {}),
        ("get_conversation_summary", "conversationId", chat, "0" * 26, {}),
        ("store_memory", "bucketId", bucket.bucket_id, 987_654, {"text": "x y"}),
        ("search_memories", "bucketId", str(bucket.bucket_id), "987654", {"query": "dog"}),
    ):
        answers = [
            _answers(caller, tool, {parameter: value, **more})["content"][0]["text"].replace(
                str(value), "?"
            )
            for value in (foreign, missing)
        ]
        assert answers[0] == answers[1], tool


def test_half_a_character_is_refused_as_no_json(caller: Caller) -> None:
    answer = caller.rpc("tools/call", {"name": "search_memories", "arguments": {"query": "\ud83d"}})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32700
