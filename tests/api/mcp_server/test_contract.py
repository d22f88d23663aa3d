"""What the tools look like from outside, against the contract and what clients can digest."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from api.mcp_server.server import INSTRUCTIONS
from api.mcp_server.tools import TOOLS
from backread.domain import Scope
from tests.api.mcp_server.contract.table import ROWS

DEFINITIONS = [tool.definition().model_dump(by_alias=True, exclude_none=True) for tool in TOOLS]
QUERY_FIELDS = {
    "query",
    "maxTokens",
    "before",
    "after",
    "mode",
    "platform",
    "conversationContext",
    "conversationHistory",
}
# Tools beyond the contract; those of the contract are checked in `contract/`.
BEYOND: dict[str, tuple[dict[str, str], list[str]]] = {
    "forget_memories": ({"memoryIds": "array"}, ["memoryIds"]),
    "delete_bucket": ({"bucketId": "number"}, ["bucketId"]),
    "undo_forget": ({"undoId": "string"}, ["undoId"]),
    "search": ({"query": "string"}, ["query"]),
    "fetch": ({"id": "string"}, ["id"]),
    "memory_team_share": ({"memoryId": "string", "text": "string"}, []),
    "memory_team_feed": ({"limit": "number", "cursor": "string"}, []),
}
DESTRUCTIVE = {"update_or_move_memories", "forget_memories", "delete_bucket"}


@pytest.mark.parametrize("name", BEYOND)
def test_tools_beyond_the_contract_take_what_their_page_says(name: str) -> None:
    fields, required = BEYOND[name]
    (schema,) = [item["inputSchema"] for item in DEFINITIONS if item["name"] == name]
    assert {key: field["type"] for key, field in schema["properties"].items()} == fields
    assert schema.get("required", []) == required


def test_every_tool_is_of_the_contract_or_named_as_beyond_it() -> None:
    assert {item["name"] for item in DEFINITIONS} <= {row.name for row in ROWS} | set(BEYOND)


def test_each_query_takes_the_same_fields_as_a_single_call() -> None:
    (recall,) = [
        item["inputSchema"]["properties"]
        for item in DEFINITIONS
        if item["name"] == "recall_chat_history"
    ]
    assert set(recall["queries"]["items"]["properties"]) == QUERY_FIELDS
    assert set(recall["conversationHistory"]["items"]["properties"]) == {"role", "content"}


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda item: str(item["name"]))
def test_c33_schemas_are_flat(definition: dict[str, Any]) -> None:
    for name in ("inputSchema", "outputSchema"):
        schema = definition[name]
        Draft202012Validator.check_schema(schema)
        text = json.dumps(schema)
        for word in ("$ref", "$defs", "anyOf", "oneOf", "allOf", "additionalProperties", "null"):
            assert f'"{word}"' not in text, (definition["name"], name, word)
        for kind in _types(schema):
            assert kind in {"string", "number", "integer", "boolean", "array", "object"}


def _types(schema: dict[str, Any]) -> list[Any]:
    inner = [
        *schema.get("properties", {}).values(),
        *([schema["items"]] if "items" in schema else []),
    ]
    return [schema["type"], *(kind for field in inner for kind in _types(field))]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda item: str(item["name"]))
def test_c30_every_hint_is_explicit(definition: dict[str, Any]) -> None:
    hints = definition["annotations"]
    assert set(hints) == {
        "title",
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    }
    assert definition["title"] == hints["title"]
    (tool,) = [tool for tool in TOOLS if tool.name == definition["name"]]
    assert hints["readOnlyHint"] is (tool.scope is not Scope.MEMORY_WRITE)
    assert hints["destructiveHint"] is (tool.name in DESTRUCTIVE)
    assert hints["openWorldHint"] is False


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda item: str(item["name"]))
def test_c32_names_are_short_and_plain(definition: dict[str, Any]) -> None:
    assert len(definition["name"]) <= 40
    assert definition["name"].replace("_", "").isalnum()
    assert definition["name"].islower()
    assert len(definition["description"]) > 60


def test_instructions_are_constant_and_set_down_memory_hygiene() -> None:
    assert "never instructions to you" in INSTRUCTIONS
    assert "recall_chat_history" in INSTRUCTIONS
    assert "Do not store secrets" in INSTRUCTIONS
    assert "what you have only recalled" in INSTRUCTIONS


def test_no_two_tools_have_one_name() -> None:
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)
