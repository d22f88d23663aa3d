"""Requests of the handshake revisions, 2024-11-05 to 2025-11-25, each answered by itself.

The SDK serves them through queues and tasks that make room for messages in both directions. A
server without sessions has no use for that: one message comes in, one answer goes out. What the
SDK does with the message is the same. What is not a request in good form is left to it whole.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import modern_error_data, serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import MessageMetadata, ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCRequest,
    RequestId,
)
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from backread.log import get_logger

KEEP_ALIVE_SECONDS = 15.0
_KIND = "streamable-http"

_log = get_logger("api.mcp")


@dataclass
class _Exchange:
    """What handlers see of the connection (the SDK's `DispatchContext`). Nothing can be asked or
    told on the way to the answer."""

    request_id: RequestId | None
    message_metadata: MessageMetadata
    transport: TransportContext
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Drops it."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Drops it."""


def request_in(message: Any) -> JSONRPCRequest | None:
    """None for a notification, an answer, a batch and what has another form."""
    if not isinstance(message, dict) or "id" not in message:
        return None
    try:
        return JSONRPCRequest.model_validate(message, by_name=False)
    except ValidationError:
        return None


class HandshakeEra:
    """Answers for one protocol server."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._state: Any = None

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves while the block runs."""
        async with self._server.lifespan(self._server) as self._state:
            yield

    async def answer(self, request: JSONRPCRequest, scope: Scope, version: str | None) -> bytes:
        """The JSON-RPC response. `version` is what the request's header named; its principal
        calls."""
        http = Request(scope)
        connection = Connection.from_envelope(version or DEFAULT_NEGOTIATED_VERSION, None, None)
        exchange = _Exchange(
            request.id,
            ServerMessageMetadata(request_context=http, can_send_request=False),
            TransportContext(kind=_KIND, can_send_request=False, headers=http.headers),
        )
        log = _log.bind(client_id=http.state.principal.client_id)
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": request.id}
        try:
            body["result"] = await serve_one(
                self._server,
                exchange,
                request.method,
                request.params,
                connection=connection,
                lifespan_state=self._state,
            )
        except (MCPError, ValidationError) as error:
            body["error"] = _error_body(modern_error_data(error))
        except Exception:
            log.exception("request_failed")
            body["error"] = _error_body(
                ErrorData(code=INTERNAL_ERROR, message="Internal server error")
            )
        # In ASCII: half a character, which a chat may hold, can be sent as an escape only.
        return json.dumps(body, separators=(",", ":")).encode("ascii")

    async def serve(
        self,
        request: JSONRPCRequest,
        version: str | None,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        may_stream: bool,
        must_stream: bool,
    ) -> None:
        """Sends the answer: as JSON if it is ready soon or the client takes no streams, else as
        the one event of a stream that is kept alive meanwhile."""
        if not may_stream:
            answer = await self.answer(request, scope, version)
            await Response(answer, media_type="application/json")(scope, receive, send)
            return
        answers: list[bytes] = []
        ready = anyio.Event()

        async def work() -> None:
            answers.append(await self.answer(request, scope, version))
            ready.set()

        async with anyio.create_task_group() as group:
            group.start_soon(work)
            is_open = must_stream
            if is_open:
                await _begin_stream(send)
            while not ready.is_set():
                with anyio.move_on_after(KEEP_ALIVE_SECONDS):
                    await ready.wait()
                    break
                if not is_open:
                    is_open = True
                    await _begin_stream(send)
                await _send_part(send, b": keep-alive\r\n\r\n")
        (answer,) = answers
        if is_open:
            await _send_part(send, b"event: message\r\ndata: " + answer + b"\r\n\r\n", is_last=True)
        else:
            await Response(answer, media_type="application/json")(scope, receive, send)


def _error_body(error: ErrorData) -> dict[str, Any]:
    return error.model_dump(mode="json", by_alias=True, exclude_none=True)


async def _begin_stream(send: Send) -> None:
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _send_part(send: Send, body: bytes, *, is_last: bool = False) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": not is_last})
