"""The protocol server that the conformance suite expects behind an endpoint: tools, prompts and
resources with the names and answers that its scenarios look for.

Written for the suite alone: the recall server offers nothing but tools.
"""

import base64
import json
import struct
import zlib
from typing import Annotated, Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import (
    AudioContent,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import Field

from tests.nightly.conformance.questions import (
    QUESTION_TOOLS,
    Schema,
    given,
    object_schema,
    question,
)

_PAUSE = 0.05  # seconds between two notifications, as the scenarios ask for


def _png() -> str:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0\xff\0\0")
    signature = b"\x89PNG\r\n\x1a\n"
    content = signature + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")
    return base64.b64encode(content).decode()


def _wav() -> str:
    """One silent sample."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    data = struct.pack("<4sIB", b"data", 1, 128)
    body = b"WAVE" + form + data
    return base64.b64encode(b"RIFF" + struct.pack("<I", len(body)) + body).decode()


IMAGE = ImageContent(type="image", data=_png(), mime_type="image/png")


def _embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    resource = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=resource)


def fixture_server() -> MCPServer:
    """A new server with everything the scenarios of both revisions call."""
    server = MCPServer("backread-conformance", log_level="WARNING")
    _add_plain_tools(server)
    _add_talking_tools(server)
    _add_asking_tools(server)
    for tool in QUESTION_TOOLS:
        server.add_tool(tool, structured_output=False)
    _add_change_tools(server)
    _add_resources(server)
    _add_prompts(server)
    return server


def _add_plain_tools(server: MCPServer) -> None:
    @server.tool(description="Answers with text.", structured_output=False)
    def test_simple_text() -> str:
        return "This is a simple text response for testing."

    @server.tool(description="Answers with an image.", structured_output=False)
    def test_image_content() -> ImageContent:
        return IMAGE

    @server.tool(description="Answers with sound.", structured_output=False)
    def test_audio_content() -> AudioContent:
        return AudioContent(type="audio", data=_wav(), mime_type="audio/wav")

    @server.tool(description="Answers with a resource.", structured_output=False)
    def test_embedded_resource() -> EmbeddedResource:
        return _embedded("test://embedded-resource", "This is an embedded resource content.")

    @server.tool(description="Answers with three kinds of content.", structured_output=False)
    def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        data = json.dumps({"test": "data", "value": 123})
        return [
            TextContent(type="text", text="Multiple content types test:"),
            IMAGE,
            _embedded("test://mixed-content-resource", data, "application/json"),
        ]

    @server.tool(description="Takes a parameter from a header, too.", structured_output=False)
    def test_header_parameter(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
    ) -> str:
        return region

    @server.tool(description="Always fails.", structured_output=False)
    def test_error_handling() -> str:
        raise RuntimeError("This tool intentionally returns an error for testing")


def _add_talking_tools(server: MCPServer) -> None:
    """Tools that send notifications while they run."""

    async def talk(ctx: Context) -> str:
        for text in (
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ):
            await ctx.info(text)
            await anyio.sleep(_PAUSE)
        return "Said three things."

    @server.tool(description="Sends three log messages.", structured_output=False)
    async def test_tool_with_logging(ctx: Context) -> str:
        return await talk(ctx)

    @server.tool(description="Sends log messages to those who want them.", structured_output=False)
    async def test_logging_tool(ctx: Context) -> str:
        return await talk(ctx)

    @server.tool(description="Reports its progress.", structured_output=False)
    async def test_tool_with_progress(ctx: Context) -> str:
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"{done} of 100")
            await anyio.sleep(_PAUSE)
        return "Done."


def _add_asking_tools(server: MCPServer) -> None:
    """Tools that ask the client in the middle of a call, as up to 2025-11-25."""

    @server.tool(description="Asks the client's model.", structured_output=False)
    async def test_sampling(prompt: str, ctx: Context) -> str:
        message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        result = await ctx.session.create_message(messages=[message], max_tokens=100)
        assert isinstance(result.content, TextContent)
        return f"LLM response: {result.content.text}"

    async def ask(ctx: Context, message: str, schema: Schema) -> str:
        result = await ctx.session.elicit_form(message, schema, ctx.request_id)
        return f"Elicitation completed: action={result.action}, content={result.content}"

    @server.tool(description="Asks the person for two words.", structured_output=False)
    async def test_elicitation(message: str, ctx: Context) -> str:
        schema = object_schema(
            {
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            }
        )
        return await ask(ctx, message, schema)

    @server.tool(description="Asks with defaults.", structured_output=False)
    async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
        schema = object_schema(
            {
                "name": {"type": "string", "default": "John Doe"},
                "age": {"type": "integer", "default": 30},
                "score": {"type": "number", "default": 95.5},
                "status": {
                    "type": "string",
                    "enum": ["active", "inactive", "pending"],
                    "default": "active",
                },
                "verified": {"type": "boolean", "default": True},
            }
        )
        return await ask(ctx, "Who are you?", schema)

    @server.tool(description="Asks with all kinds of choices.", structured_output=False)
    async def test_elicitation_sep1330_enums(ctx: Context) -> str:
        options = ["option1", "option2", "option3"]
        titled = [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]
        schema = object_schema(
            {
                "untitledSingle": {"type": "string", "enum": options},
                "titledSingle": {"type": "string", "oneOf": titled},
                "legacyEnum": {
                    "type": "string",
                    "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option One", "Option Two", "Option Three"],
                },
                "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
                "titledMulti": {"type": "array", "items": {"anyOf": titled}},
            }
        )
        return await ask(ctx, "Which ones?", schema)


def _add_change_tools(server: MCPServer) -> None:
    """Tools that say that a list has changed."""

    @server.tool(description="Says that the tools changed.", structured_output=False)
    async def test_trigger_tool_change(ctx: Context) -> str:
        await ctx.notify_tools_changed()
        return "Said it."

    @server.tool(description="Says that the prompts changed.", structured_output=False)
    async def test_trigger_prompt_change(ctx: Context) -> str:
        await ctx.notify_prompts_changed()
        return "Said it."


def _add_resources(server: MCPServer) -> None:
    @server.resource(
        "test://static-text", name="static-text", description="A text.", mime_type="text/plain"
    )
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource(
        "test://static-binary", name="static-binary", description="A pixel.", mime_type="image/png"
    )
    def static_binary() -> bytes:
        return base64.b64decode(_png())

    @server.resource(
        "test://watched-resource", name="watched", description="A text that may change."
    )
    def watched() -> str:
        return "Watched resource content."

    @server.resource(
        "test://template/{id}/data",
        name="template",
        description="Data of an id.",
        mime_type="application/json",
    )
    def template(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    async def change_subscription(
        _: ServerRequestContext[Any, Any], __: SubscribeRequestParams | UnsubscribeRequestParams
    ) -> EmptyResult:
        return EmptyResult()

    async def set_level(
        _: ServerRequestContext[Any, Any], __: SetLevelRequestParams
    ) -> EmptyResult:
        return EmptyResult()

    # The SDK's friendlier layer has no decorators for these.
    low_level = server._lowlevel_server
    low_level.add_request_handler(
        "resources/subscribe", SubscribeRequestParams, change_subscription
    )
    low_level.add_request_handler(
        "resources/unsubscribe", UnsubscribeRequestParams, change_subscription
    )
    low_level.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)


def _add_prompts(server: MCPServer) -> None:
    @server.prompt(description="A prompt without arguments.")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="A prompt with two arguments.")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="A prompt with a resource.")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
        return [
            UserMessage(_embedded(resourceUri, "Embedded resource content for testing.")),
            UserMessage("Please process the embedded resource above."),
        ]

    @server.prompt(description="A prompt with an image.")
    def test_prompt_with_image() -> list[UserMessage]:
        return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]

    @server.prompt(description="A prompt that asks first.")
    async def test_input_required_result_prompt(ctx: Context) -> str | InputRequiredResult:
        if context := given(ctx, "user_context", "context"):
            return f"Consider {context}."
        asked = question("What context should the prompt use?", context={"type": "string"})
        return InputRequiredResult(input_requests={"user_context": asked})

    async def complete(
        _: ServerRequestContext[Any, Any], params: CompleteRequestParams
    ) -> CompleteResult:
        cities = ("paris", "parma", "perth")
        values = [city for city in cities if city.startswith(params.argument.value)]
        return CompleteResult(completion=Completion(values=values))

    server._lowlevel_server.add_request_handler(
        "completion/complete", CompleteRequestParams, complete
    )
