"""What no client should send, and many at once."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from backread.domain import Principal
from backread.errors import NotFound, Unavailable
from backread.kernel import Kernel
from recall.folders.access import FolderAccess
from recall.folders.catalogue import delete_folder
from recall.folders.records import create_record, update_record
from tests.api.folder_server.conftest import KeyCaller, KeyCallerFor

WRONG = "Something went wrong"


def modern(holder: KeyCaller, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call of the era whose parser lets halves of characters through."""
    answer = holder.modern("tools/call", {"name": tool, "arguments": arguments})
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["result"])


@pytest.mark.parametrize("broken", ["a\x00b", "a\ud800"])
@pytest.mark.parametrize(
    "given",
    [
        lambda text: {"name": text},
        lambda text: {"content": text},
        lambda text: {"vector_description": text},
        lambda text: {"metadata": {"key": text}},
        lambda text: {"metadata": {text: "value"}},
        lambda text: {"metadata": [{"key": text, "value": 1}]},
        lambda text: {"metadata": json.dumps({"key": text})},
    ],
)
def test_a_character_that_cannot_be_carried_is_refused_and_spoils_no_list(
    holder: KeyCaller, given: Any, broken: str
) -> None:
    answer = modern(holder, "create_memory", **{"name": "Log", "content": "x", **given(broken)})
    assert answer["isError"]
    assert WRONG not in answer["content"][0]["text"]
    assert holder.result("query_memories")["records"] == []


@pytest.mark.parametrize(
    "metadata",
    [
        '{"a":' * 20_000,
        "[" * 20_000,
        [{"key": ["a"], "value": 1}],
        [{"key": {"a": 1}, "value": 1}],
        {"key": 10**40},
        '{"key": NaN}',
    ],
)
def test_metadata_that_is_none_is_explained(holder: KeyCaller, metadata: Any) -> None:
    text = holder.problem("create_memory", name="Log", content="x", metadata=metadata)
    assert WRONG not in text
    assert "metadata" in text


@pytest.mark.parametrize("metadata", ["[" * 20_000, '{"a":' * 20_000, [{"key": ["a"], "value": 1}]])
def test_conditions_that_are_none_are_explained(holder: KeyCaller, metadata: Any) -> None:
    for tool in ("query_memories", "list_records"):
        assert WRONG not in holder.problem(tool, metadata=metadata)


def test_of_twenty_that_append_at_once_none_is_lost(holder: KeyCaller) -> None:
    made = holder.result("create_memory", name="Log", content="- start")

    def append(number: int) -> dict[str, Any]:
        return holder.call(
            "update_memory",
            {"recordId": made["id"], "content": f"- item {number};", "operation": "append"},
        )

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(append, range(20)))
    assert not [each for each in answers if each.get("isError")]
    record = holder.result("find_memory", recordId=made["id"])
    assert sorted(record["content"].splitlines()[1:]) == sorted(
        f"- item {number};" for number in range(20)
    )
    assert record["revision"] == 21


def outcomes(calls: Sequence[Any]) -> set[str]:
    """What calls made at once led to."""

    def outcome(call: Any) -> str:
        try:
            call()
        except NotFound:
            return "gone"
        return "done"

    with ThreadPoolExecutor(len(calls)) as pool:
        return set(pool.map(outcome, calls))


def test_a_folder_that_is_deleted_while_it_is_written_goes_without_a_deadlock(
    holder_of: KeyCallerFor, kernel: Kernel, principal: Principal
) -> None:
    for round_number in range(4):
        name = f"Round {round_number}"
        access = FolderAccess(principal.account_id, holder_of(name).folder_id)
        ids = [create_record(kernel, access, f"R{each}", "One two three.").id for each in range(6)]

        def append(record_id: str, access: FolderAccess = access) -> None:
            update_record(kernel, access, record_id, content="More.", operation="append")

        calls: list[Any] = [lambda each=each: append(each) for each in [*ids, *ids]]
        calls.insert(
            4,
            lambda access=access, name=name: delete_folder(
                kernel, principal, access.folder_id, name=name
            ),
        )
        calls.append(lambda access=access: create_record(kernel, access, "Late", "x"))
        assert outcomes(calls) <= {"done", "gone"}
        with pytest.raises(NotFound):
            append(ids[0])


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_records_are_written_and_read_while_the_index_is_away(
    holder: KeyCaller, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: object) -> str:
        raise Unavailable("The search index cannot be reached.")

    monkeypatch.setattr(type(kernel.index), "lexical_signature", property(away))
    made = holder.result("create_memory", name="Log", content="One.")
    assert made["indexing"] == "waiting"
    added = {"recordId": made["id"], "content": "Two.", "operation": "append"}
    assert holder.result("update_memory", **added)["content"] == "One.\n\nTwo."
    assert holder.result("find_memory", name="Log")["indexing"] == "waiting"
    assert holder.result("query_memories")["total"] == 1
    assert "cannot be reached" in holder.problem("vector_search", query="one")
