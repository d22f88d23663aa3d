import json
from collections.abc import Callable
from typing import Any

import pytest

from recall.folders.records import MAX_CONTENT
from tests.api.folder_server.conftest import KeyCaller, KeyCallerFor


def test_a_record_is_created_and_found_by_id_and_by_name(holder: KeyCaller) -> None:
    made = holder.result(
        "create_memory",
        name="Harbour survey",
        content="# Piers\n\nPier 2 needs new planks.",
        metadata={"status": "active", "year": 2024, "is_final": False, "owner": None},
    )
    assert made["metadata"] == {"status": "active", "year": 2024, "is_final": False, "owner": None}
    by_id = holder.result("find_memory", recordId=made["id"])
    by_name = holder.result("find_memory", name="Harbour survey")
    assert by_id == by_name
    assert by_id["content"] == "# Piers\n\nPier 2 needs new planks."
    assert by_id["same_name"] == 0


def test_a_content_comes_back_exactly_as_it_was_written(holder: KeyCaller) -> None:
    content = "System: keep\r\n\u200bhidden\U000e0041 <|im_start|> \u202e“quotes” \\ ```x```\n\n"
    made = holder.result("create_memory", name="Odd", content=content)
    answer = holder.call("find_memory", {"recordId": made["id"]})
    assert answer["structuredContent"]["content"] == content
    text = answer["content"][0]["text"]
    assert json.loads(text)["content"] == content
    assert "\U000e0041" not in text
    assert "\u202e" not in text


def test_of_several_records_with_one_name_the_last_written_is_found(holder: KeyCaller) -> None:
    first = holder.result("create_memory", name="Log", content="one")
    holder.result("create_memory", name="Log", content="two")
    assert holder.result("find_memory", name="Log")["content"] == "two"
    holder.result("update_memory", recordId=first["id"], content="one again")
    found = holder.result("find_memory", name="Log")
    assert (found["content"], found["same_name"]) == ("one again", 1)
    assert len(holder.result("query_memories", name="Log")["records"]) == 2


def test_a_name_is_found_however_its_accents_are_written_and_with_spaces_around_it(
    holder: KeyCaller,
) -> None:
    composed, parted = "Caf\u00e9", "Cafe\u0301"
    made = [holder.result("create_memory", name=name, content="x") for name in (composed, parted)]
    assert [each["name"] for each in made] == [composed, parted]
    for name in (composed, parted, f" {composed}\n"):
        assert holder.result("find_memory", name=name)["same_name"] == 1
        assert holder.result("query_memories", name=name)["total"] == 2
    assert holder.result("query_memories", name="Cafe")["total"] == 0


@pytest.mark.parametrize(
    ("former", "added", "whole"),
    [
        ("One.", "Two.", "One.\n\nTwo."),
        ("One.\n", "Two.", "One.\n\nTwo."),
        ("- one\n", "- two", "- one\n- two"),
        ("One.\n\n", "Two.", "One.\n\nTwo."),
        ("- one", "- two", "- one\n- two"),
        ("1. one", "2. two", "1. one\n2. two"),
        ("| a |", "| b |", "| a |\n| b |"),
        ("One.", "\nTwo.", "One.\nTwo."),
    ],
)
def test_append_adds_to_the_end_without_overwriting(
    holder: KeyCaller, former: str, added: str, whole: str
) -> None:
    made = holder.result("create_memory", name="Log", content=former)
    holder.result("update_memory", recordId=made["id"], content=added, operation="append")
    assert holder.result("find_memory", name="Log")["content"] == whole


def test_an_update_sets_what_it_names_and_leaves_the_rest(holder: KeyCaller) -> None:
    made = holder.result(
        "create_memory", name="Plan", content="Draft.", metadata={"status": "new", "area": "sea"}
    )
    changed = holder.result("update_memory", recordId=made["id"], metadata={"status": "done"})
    assert changed["metadata"] == {"status": "done", "area": "sea"}
    assert (changed["content"], changed["revision"]) == ("Draft.", 2)
    same = holder.result("update_memory", recordId=made["id"], content="Draft.")
    assert same["revision"] == 2


def test_records_are_filtered_by_all_conditions_and_by_the_kind_of_a_value(
    holder: KeyCaller,
) -> None:
    values: list[Any] = [1, "1", True, None, 1.5, "true", "", "ünï"]
    for value in values:
        fields = {"value": value, "category": "billing"}
        holder.result("create_memory", name=f"v{value!r}", content="x", metadata=fields)
    holder.result("create_memory", name="other", content="x", metadata={"value": 1})
    for value in values:
        asked = [{"key": "value", "value": value}, {"key": "category", "value": "billing"}]
        found = holder.result("query_memories", metadata=asked)["records"]
        assert [record["name"] for record in found] == [f"v{value!r}"]
    assert holder.result("query_memories", metadata=[{"key": "value", "value": 1.0}])["total"] == 2
    assert holder.result("query_memories", metadata={"category": "billing"})["total"] == len(values)
    nothing = [{"key": "value", "value": "no"}, {"key": "category", "value": "billing"}]
    assert holder.result("query_memories", metadata=nothing)["records"] == []


def test_a_filter_follows_the_metadata_as_it_changes(holder: KeyCaller) -> None:
    made = holder.result("create_memory", name="Plan", content="x", metadata={"status": "new"})
    holder.result("update_memory", recordId=made["id"], metadata={"status": "done"})
    assert holder.result("query_memories", metadata={"status": "new"})["total"] == 0
    assert holder.result("query_memories", metadata={"status": "done"})["total"] == 1


def test_list_records_shows_names_only_and_filters(holder: KeyCaller) -> None:
    for number in range(3):
        holder.result(
            "create_memory", name=f"r{number}", content="secret", metadata={"odd": number % 2}
        )
    answer = holder.call("list_records", {"metadata": [{"key": "odd", "value": 0}]})
    listed = json.loads(answer["content"][0]["text"])
    assert [set(each) for each in listed] == [{"id", "name", "created_at"}] * 2
    assert [each["name"] for each in listed] == ["r0", "r2"]


def test_pages_of_a_query_hold_every_record_once(holder: KeyCaller) -> None:
    names = [f"r{number:03}" for number in range(60)]
    for name in names:
        holder.result("create_memory", name=name, content="y" * 3000)
    seen, cursor, pages = [], "", 0
    while True:
        page = holder.result("query_memories", cursor=cursor)
        seen += [record["name"] for record in page["records"]]
        cursor, pages = page["next_cursor"], pages + 1
        if not cursor:
            break
    assert seen == names
    assert pages == 3  # sixty thousand characters each


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("create_memory", {"name": " ", "content": "x"}, "name"),
        ("create_memory", {"name": "n" * 501, "content": "x"}, "500"),
        ("create_memory", {"name": "n", "content": " \n"}, "empty"),
        ("create_memory", {"name": "n", "content": "x" * (MAX_CONTENT + 1)}, "Split"),
        ("create_memory", {"name": "n", "content": "x", "metadata": {"a": [1]}}, "list"),
        ("create_memory", {"name": "n", "content": "x", "metadata": {"a": "y" * 2001}}, "2000"),
        ("create_memory", {"name": "n", "content": "x", "metadata": {" ": 1}}, "key"),
        ("create_memory", {"name": "n"}, "content"),
        ("update_memory", {"recordId": "none", "content": "x"}, "no record"),
        ("update_memory", {"recordId": "none"}, "nothing to change"),
        ("update_memory", {"recordId": "none", "content": "x", "operation": "add"}, "operation"),
        ("find_memory", {}, "either"),
        ("find_memory", {"recordId": "a", "name": "b"}, "either"),
        ("find_memory", {"name": "nobody"}, "no record"),
        ("query_memories", {"metadata": [{"key": "a"}]}, "value"),
        ("vector_search", {"query": ""}, "empty"),
        ("vector_search", {"query": "x", "limit": 0}, "limit"),
        ("vector_search", {"query": "x", "limit": 101}, "limit"),
        ("vector_search", {"query": "x", "similarity_threshold": -0.01}, "similarity_threshold"),
        ("vector_search", {"query": "x", "similarity_threshold": 1.01}, "similarity_threshold"),
        ("get_propositions", {"recordId": "none"}, "no record"),
    ],
)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_wrong_call_is_told_what_to_change(
    holder: KeyCaller, tool: str, arguments: dict[str, Any], told: str
) -> None:
    assert told in holder.problem(tool, **arguments)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_limits_are_allowed_at_their_edge(holder: KeyCaller) -> None:
    holder.result("create_memory", name="n" * 500, content="x" * MAX_CONTENT)
    fields = {f"k{number}": "y" * 2000 for number in range(100)}
    made = holder.result("create_memory", name="n", content="x", metadata=fields)
    assert len(made["metadata"]) == 100
    for limit, threshold in ((1, 0), (100, 1), (100, 1.0)):
        holder.result("vector_search", query="x", limit=limit, similarity_threshold=threshold)


def test_a_record_says_whether_it_is_indexed(
    holder: KeyCaller, holder_of: KeyCallerFor, indexed: Callable[[], None]
) -> None:
    made = holder.result("create_memory", name="Piers", content="Pier 2 needs new planks.")
    assert made["indexing"] == "waiting"
    assert holder.result("vector_search", query="planks of pier 2")["waiting"] == 1
    indexed()
    assert holder.result("find_memory", recordId=made["id"])["indexing"] == "indexed"
    changed = holder.result("update_memory", recordId=made["id"], content="Pier 3 is fine.")
    assert changed["indexing"] == "waiting"
    indexed()
    assert holder.result("find_memory", recordId=made["id"])["indexing"] == "indexed"
    plain = holder_of("Plain", generate_embeddings=False)
    assert plain.result("create_memory", name="n", content="x")["indexing"] == "off"
    assert "no embeddings" in plain.problem("vector_search", query="x")


def test_a_search_finds_parts_of_records_as_they_are_now(
    holder: KeyCaller, indexed: Callable[[], None]
) -> None:
    piers = holder.result("create_memory", name="Piers", content="Pier 2 needs new oak planks.")
    holder.result("create_memory", name="Menu", content="Friday is soup day in the canteen.")
    indexed()
    found = holder.result("vector_search", query="oak planks for pier 2")["results"]
    assert [each["record_name"] for each in found] == ["Piers"]
    assert found[0]["content"] == "Pier 2 needs new oak planks."
    assert found[0]["similarity"] >= 0.7
    holder.result("update_memory", recordId=piers["id"], content="Nothing to see here.")
    indexed()
    assert holder.result("vector_search", query="new oak planks")["results"] == []


def test_a_description_is_searched_instead_of_the_content(
    holder: KeyCaller, indexed: Callable[[], None]
) -> None:
    holder.result(
        "create_memory",
        name="Dump",
        content="0x3f 0x9a 0x77 " * 50,
        vector_description="Memory dump of the crashed weather station",
    )
    indexed()
    found = holder.result("vector_search", query="crashed weather station memory dump")["results"]
    assert [each["record_name"] for each in found] == ["Dump"]
    assert found[0]["content"].startswith("0x3f")
    assert holder.result("vector_search", query="0x3f 0x9a")["results"] == []


def test_a_folders_description_is_part_of_what_is_embedded(
    holder_of: KeyCallerFor, indexed: Callable[[], None]
) -> None:
    described = holder_of("Described", vector_description="Weather station maintenance")
    described.result("create_memory", name="Masts", content="All masts were painted.")
    indexed()
    found = described.result(
        "vector_search", query="weather station maintenance", similarity_threshold=0.2
    )["results"]
    assert [each["record_name"] for each in found] == ["Masts"]
    assert "Weather" not in found[0]["content"]


def test_propositions_follow_the_content(holder: KeyCaller) -> None:
    made = holder.result(
        "create_memory",
        name="Ferry",
        content="# Ferry line 4\n\nThe ferry runs on Sundays. It needs a crew of six.",
    )
    answer = holder.call("get_propositions", {"recordId": made["id"]})
    facts = json.loads(answer["content"][0]["text"])
    assert facts == [
        "The ferry runs on Sundays.",
        "The ferry needs a crew of six.",
    ]
    spans = answer["structuredContent"]["propositions"]
    content = made["content"]
    assert content[spans[1]["start"] : spans[1]["end"]] == "It needs a crew of six."
    holder.result("update_memory", recordId=made["id"], content="The ferry was sold in March.")
    again = holder.result("get_propositions", recordId=made["id"])["propositions"]
    assert [each["text"] for each in again] == ["The ferry was sold in March."]
