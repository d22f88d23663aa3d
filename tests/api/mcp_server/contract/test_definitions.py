"""What the MCP client is shown of each tool, and what calls at and past every limit give."""

from typing import Any

import pytest
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp_types import CallToolResult

from tests.api.mcp_server.contract.conftest import ERAS, Place
from tests.api.mcp_server.contract.table import ADDITIONS, ROWS, SCOPES, Parameter, Row

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_is_shown_as_the_contract_has_it(place: Place, era: ConnectMode) -> None:
    async def listed(client: Client) -> dict[str, Any]:
        found = (await client.list_tools()).tools
        return {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in found}

    tools = place.with_client(era, place.token(*SCOPES), listed)
    missing = [row.name for row in ROWS if row.name not in tools]
    assert not missing, f"not in api.mcp_server.tools.TOOLS: {missing}"
    for row in ROWS:
        check_schema(row, tools[row.name]["inputSchema"])
        hints = tools[row.name]["annotations"]
        assert hints["readOnlyHint"] is row.is_read_only, row.name
        assert hints["destructiveHint"] is row.is_destructive, row.name
        assert hints["idempotentHint"] is row.is_idempotent, row.name
        assert hints["openWorldHint"] is False, row.name


def check_schema(row: Row, schema: dict[str, Any]) -> None:
    shown = schema.get("properties", {})
    types = {name: field["type"] for name, field in shown.items()}
    ours = {each.name: each.type for each in row.parameters}
    assert types == ours | ADDITIONS.get(row.name, {}), row.name
    required = [each.name for each in row.parameters if each.required]
    assert sorted(schema.get("required", [])) == sorted(required), row.name
    for each in row.parameters:
        field = shown[each.name]
        assert field.get("description"), (row.name, each.name)
        assert field.get("default") == each.default, (row.name, each.name)
        assert tuple(field.get("enum", ())) == each.values, (row.name, each.name)
        length = field.get("maxItems") if each.type == "array" else field.get("maximum")
        assert length == each.most, (row.name, each.name)


LIMITED = [
    pytest.param(row, each, id=f"{row.name}-{each.name}")
    for row in ROWS
    for each in row.parameters
    if each.most is not None or each.least is not None or each.values
]


def edges(parameter: Parameter) -> tuple[list[Any], list[Any]]:
    """Values at the limits, and values past them."""
    inside: list[Any] = []
    outside: list[Any] = []
    if parameter.type == "array":
        assert parameter.most is not None
        item = parameter.item
        inside += [[item], [item] * parameter.most]
        outside.append([item] * (parameter.most + 1))
        (inside if parameter.may_be_empty else outside).append([])
    elif parameter.values:
        inside += parameter.values
        outside += ["fast", parameter.values[0].upper()]
    else:
        inside += [each for each in (parameter.least, parameter.most) if each is not None]
        outside += ["many", 1.5]
        outside += [] if parameter.least is None else [parameter.least - 1]
        outside += [] if parameter.most is None else [parameter.most + 1]
    return inside, outside


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("row", "parameter"), LIMITED)
def test_limits_hold_at_their_edge_and_one_past_it(
    place: Place, era: ConnectMode, row: Row, parameter: Parameter
) -> None:
    inside, outside = edges(parameter)
    call = {key: value for key, value in row.call.items() if key not in parameter.without}

    async def tried(client: Client) -> None:
        for values, is_error in ((inside, False), (outside, True)):
            for value in values:
                arguments = place.filled(call | parameter.beside | {parameter.name: value})
                result = await client.call_tool(row.name, arguments)
                assert isinstance(result, CallToolResult)
                assert result.is_error is is_error, (value, result.content)
                if is_error:
                    assert parameter.name in text_of(result)

    place.with_client(era, place.token(*SCOPES), tried)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.name))
def test_each_tool_answers_in_text_and_in_the_form_that_it_promises(
    place: Place, era: ConnectMode, row: Row
) -> None:
    async def called(client: Client) -> CallToolResult:
        await client.list_tools()  # the client checks results against the schemas that it saw
        result = await client.call_tool(row.name, place.filled(row.call))
        assert isinstance(result, CallToolResult)
        return result

    result = place.with_client(era, place.token(*SCOPES), called)
    assert not result.is_error, result.content
    assert text_of(result)
    assert isinstance(result.structured_content, dict)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.name))
def test_what_is_missing_or_unknown_is_named(place: Place, row: Row) -> None:
    async def tried(client: Client) -> None:
        unknown = await client.call_tool(row.name, place.filled(row.call) | {"colour": "red"})
        assert isinstance(unknown, CallToolResult)
        assert unknown.is_error
        assert "colour: there is no such parameter" in text_of(unknown)
        for parameter in row.parameters:
            if parameter.required:
                call = {key: value for key, value in row.call.items() if key != parameter.name}
                result = await client.call_tool(row.name, place.filled(call))
                assert isinstance(result, CallToolResult)
                assert result.is_error
                assert parameter.name in text_of(result)

    place.with_client("auto", place.token(*SCOPES), tried)


BUCKETS = [row for row in ROWS if any(each.name == "bucketId" for each in row.parameters)]


@pytest.mark.parametrize("row", BUCKETS, ids=lambda row: str(row.name))
def test_a_bucket_id_may_be_a_number_or_its_digits(place: Place, row: Row) -> None:
    call = place.filled(row.call)
    bucket = _bucket_for(place, row)
    if row.name == "update_or_move_memories":
        call.pop("text")

    async def tried(client: Client) -> None:
        for value in (int(bucket), str(bucket), f" {bucket} ", float(bucket)):
            result = await client.call_tool(row.name, call | {"bucketId": value})
            assert isinstance(result, CallToolResult)
            assert not result.is_error, (value, result.content)
        for value in ("seven", "1.5", "-1", True, 10**30):
            result = await client.call_tool(row.name, call | {"bucketId": value})
            assert isinstance(result, CallToolResult)
            assert result.is_error, value
            assert "bucket" in text_of(result)

    place.with_client("auto", place.token(*SCOPES), tried)


def _bucket_for(place: Place, row: Row) -> int:
    """A bucket that the tool knows: file buckets are a kind of their own."""
    if row.name != "search_uploaded_files":
        return int(place.ids["bucket"])
    return int(place.ids.get("file_bucket", "1"))


def text_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")
