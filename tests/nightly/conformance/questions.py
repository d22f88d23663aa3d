"""Fixture tools that end a call with questions and are called again with the answers, as
2026-07-28 has it."""

from typing import Any

from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

Schema = dict[str, Any]
Outcome = str | InputRequiredResult


def object_schema(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def question(message: str, **properties: Schema) -> ElicitRequest:
    """A question to the person."""
    schema = object_schema(properties)
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def given(ctx: Context, key: str, name: str) -> str | None:
    """What the person answered to the question `key`, if it is an answer to it."""
    answer = (ctx.input_responses or {}).get(key)
    content = answer.content if isinstance(answer, ElicitResult) else None
    value = (content or {}).get(name)
    return value if isinstance(value, str) else None


def _prompt(text: str, max_tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


NAME = {"user_name": question("What is your name?", name={"type": "string"})}
CAPITAL = {"capital_question": _prompt("What is the capital of France?", 100)}


async def test_input_required_result_elicitation(ctx: Context) -> Outcome:
    """Asks for a name."""
    name = given(ctx, "user_name", "name")
    return f"Hello, {name}!" if name else InputRequiredResult(input_requests={**NAME})


async def test_streaming_elicitation(ctx: Context) -> Outcome:
    """Asks for a name, too."""
    return await test_input_required_result_elicitation(ctx)


async def test_input_required_result_sampling(ctx: Context) -> Outcome:
    """Asks the client's model."""
    answer = (ctx.input_responses or {}).get("capital_question")
    if isinstance(answer, CreateMessageResult) and isinstance(answer.content, TextContent):
        return answer.content.text
    return InputRequiredResult(input_requests={**CAPITAL})


async def test_input_required_result_list_roots(ctx: Context) -> Outcome:
    """Asks for the client's roots."""
    answer = (ctx.input_responses or {}).get("client_roots")
    if isinstance(answer, ListRootsResult):
        return ", ".join(str(root.uri) for root in answer.roots)
    return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


async def test_input_required_result_request_state(ctx: Context) -> Outcome:
    """Keeps a state between two calls."""
    if ctx.input_responses and ctx.request_state == "asked":
        return "state-ok"
    asked = {"confirm": question("Please confirm", ok={"type": "boolean"})}
    return InputRequiredResult(input_requests={**asked}, request_state="asked")


async def test_input_required_result_tampered_state(ctx: Context) -> Outcome:
    """Keeps a state, which nobody else can change."""
    return await test_input_required_result_request_state(ctx)


async def test_input_required_result_multiple_inputs(ctx: Context) -> Outcome:
    """Asks three things at once."""
    questions = {
        **NAME,
        "greeting": _prompt("Generate a greeting", 50),
        "client_roots": ListRootsRequest(),
    }
    if questions.keys() <= (ctx.input_responses or {}).keys():
        return "All three came."
    return InputRequiredResult(input_requests={**questions}, request_state="asked")


async def test_input_required_result_multi_round(ctx: Context) -> Outcome:
    """Asks one thing after another."""
    color = given(ctx, "step2", "color")
    if color and ctx.request_state:
        return f"{ctx.request_state} likes {color}."
    if name := given(ctx, "step1", "name"):
        second = question("Step 2: What is your favorite color?", color={"type": "string"})
        return InputRequiredResult(input_requests={"step2": second}, request_state=name)
    first = question("Step 1: What is your name?", name={"type": "string"})
    return InputRequiredResult(input_requests={"step1": first}, request_state="nobody yet")


async def test_input_required_result_capabilities(ctx: Context) -> Outcome:
    """Asks what the client can answer."""
    can = ctx.client_capabilities or ClientCapabilities()
    questions: dict[str, Any] = {}
    if can.sampling is not None:
        questions |= CAPITAL
    if can.elicitation is not None:
        questions |= NAME
    return InputRequiredResult(input_requests=questions)


async def test_missing_capability(ctx: Context) -> Outcome:
    """Needs a client that has a model."""
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        required: Schema = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This needs sampling.", required)
    return "It has one."


QUESTION_TOOLS = (
    test_input_required_result_elicitation,
    test_streaming_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
    test_missing_capability,
)
