"""Streamable HTTP: one POST, one answer, in the form that the client can take.

An answer that is ready soon goes out as plain JSON. One that takes longer, or that has something
to say on the way, becomes a stream of server-sent events with keep-alives, if the client takes
streams at all.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import (
    HEADER_MISMATCH,
    PROTOCOL_VERSION_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from api.mcp_server.access import error
from api.mcp_server.handshake_era import HandshakeEra, request_in

_JSON, _SSE = "application/json", "text/event-stream"
_VERSION_HEADER = "mcp-protocol-version"
_SESSION_HEADER = "mcp-session-id"
# How the SDK writes an answer; what looks like this need not be read a second time.
_ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":(?:-?\d+|"(?:[^"\\]|\\.)*+"),"(?:result|error)":\{')


class StreamableHttp:
    """The transport of one protocol server.

    Stateless unless `keeps_sessions`: then the handshake revisions get a session in this process,
    for servers that ask the client something in the middle of a call.
    """

    def __init__(self, server: Server[Any], *, keeps_sessions: bool = False) -> None:
        self._keeps_sessions = keeps_sessions
        self._handshake_era = HandshakeEra(server)
        # Host and Origin are checked by `api.middleware.HostGuard` and `access.refusal`.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._json, self._sse = (
            StreamableHTTPSessionManager(
                server,
                json_response=is_json,
                stateless=not keeps_sessions,
                security_settings=security,
            )
            for is_json in (True, False)
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves while the block runs. Once per instance."""
        async with self._json.run(), self._sse.run(), self._handshake_era.run():
            yield

    async def serve(
        self, scope: Scope, receive: Receive, send: Send, body: bytes, message: Any
    ) -> None:
        """Answers a request whose body was read, and `decoded`, already."""
        takes_json, takes_sse = _accepted(Headers(scope=scope))
        if not takes_json and not takes_sse:
            await error(406, "not_acceptable", f"accept {_JSON} or {_SSE}")(scope, receive, send)
            return
        send = _unbuffered(send)
        prepared = self._prepared(scope, message)
        version = Headers(scope=prepared).get(_VERSION_HEADER)
        request = _handshake_request(prepared, message, version)
        if request is not None and _is_misdirected(request):
            await _misdirected(request)(scope, receive, send)
            return
        if request is not None and not self._keeps_sessions:
            await self._handshake_era.serve(
                request,
                version,
                scope,
                receive,
                send,
                may_stream=takes_sse,
                must_stream=not takes_json,
            )
            return
        if takes_json and takes_sse and scope["method"] == "POST":
            send = JsonIfSoon(send)
        manager = self._sse if takes_sse else self._json
        await manager.handle_request(prepared, _replay(body, receive), send)

    async def answer(self, scope: Scope, body: bytes, message: Any) -> bytes:
        """The JSON that a handshake-era message is answered with; empty for a notification.
        `scope` is a request that was let in; its principal calls."""
        parts: list[bytes] = []

        async def keep(message: Message) -> None:
            parts.append(message.get("body", b""))

        prepared = self._prepared(scope, message, is_handshake_era=True)
        request = request_in(message)
        if request is not None:
            version = Headers(scope=prepared).get(_VERSION_HEADER)
            return await self._handshake_era.answer(request, scope, version)
        await self._json.handle_request(prepared, _replay(body, _nothing), keep)
        return b"".join(parts)

    def _prepared(self, scope: Scope, message: Any, is_handshake_era: bool = False) -> Scope:
        """The request as the SDK wants it: both types accepted; no session id when there are no
        sessions, since a stale one must do no harm; and a handshake without a version header,
        since only its body may negotiate."""
        negotiates = _is_handshake(message)
        headers = []
        for name, value in scope["headers"]:
            text = name.decode("latin-1")
            if text == "accept" or (text == _SESSION_HEADER and not self._keeps_sessions):
                continue
            is_unknown = value.decode("latin-1") not in HANDSHAKE_PROTOCOL_VERSIONS
            if text == _VERSION_HEADER and is_unknown and (negotiates or is_handshake_era):
                continue
            headers.append((name, value))
        headers.append((b"accept", f"{_JSON}, {_SSE}".encode()))
        return {**scope, "headers": headers}


def _is_misdirected(request: JSONRPCRequest) -> bool:
    """Whether a request is of a stateless revision by its body and not by its header. The SDK goes
    by the header alone and would answer it as of another revision; what stands between it and the
    client would have read another request than we (MCP 2026-07-28, "Server Validation")."""
    meta = (request.params or {}).get("_meta")
    named = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
    return request.method != "initialize" and named in MODERN_PROTOCOL_VERSIONS


def _misdirected(request: JSONRPCRequest) -> Response:
    problem = ErrorData(
        code=HEADER_MISMATCH,
        message=f"{_VERSION_HEADER} header does not match the request envelope's protocol version",
    )
    body = JSONRPCError(jsonrpc="2.0", id=request.id, error=problem)
    content = body.model_dump(mode="json", by_alias=True, exclude_none=True)
    return JSONResponse(content, status_code=400)


def _handshake_request(scope: Scope, message: Any, version: str | None) -> JSONRPCRequest | None:
    """The request, if it is one of the handshake revisions and nothing about it is amiss."""
    is_json = Headers(scope=scope).get("content-type", "").lower().startswith(_JSON)
    if scope["method"] != "POST" or not is_json:
        return None
    is_known = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    return request_in(message) if is_known else None


class JsonIfSoon:
    """Sends a stream that holds one answer and nothing else as plain JSON.

    Holds the stream's beginning back until its first event. That is the answer, or a message on
    the way to it, or the SDK's first keep-alive after fifteen seconds; the latter two open the
    stream. Older proxies and clients digest JSON better, and a long call still keeps its
    connection alive.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._held: Message | None = None
        self._is_answered = False

    async def __call__(self, message: Message) -> None:
        if self._is_answered:
            return
        if message["type"] == "http.response.start" and _is_stream(message):
            self._held = message
            return
        if self._held is not None:
            start, self._held = self._held, None
            answer = _answer_in(message.get("body", b""))
            if answer is not None:
                self._is_answered = True
                own = {b"content-type": _JSON.encode(), b"content-length": b"%d" % len(answer)}
                headers = [item for item in start["headers"] if item[0].lower() not in own]
                start = {**start, "headers": [*headers, *own.items()]}
                message = {"type": "http.response.body", "body": answer}
            await self._send(start)
        await self._send(message)


def _is_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(_SSE.encode())
        for name, value in start["headers"]
    )


def _is_handshake(message: Any) -> bool:
    """`initialize` as the revisions that have it define it; 2026-07-28 has no such method."""
    if not isinstance(message, dict) or message.get("method") != "initialize":
        return False
    params = message.get("params")
    return isinstance(params, dict) and "protocolVersion" in params


def _answer_in(event: bytes) -> bytes | None:
    """The JSON-RPC response that a server-sent event holds, if it holds one."""
    lines = [line[5:].lstrip() for line in event.splitlines() if line.startswith(b"data:")]
    data = b"\n".join(lines)
    if _ANSWER.match(data):
        return data
    message = decoded(data)
    is_answer = isinstance(message, dict) and ("result" in message or "error" in message)
    return data if is_answer else None


def decoded(body: bytes) -> Any:
    """None for what is no JSON, or holds half a character; the SDK's transport then answers it."""
    try:
        return from_json(body)
    except ValueError:
        return None


def _accepted(headers: Headers) -> tuple[bool, bool]:
    """Whether the client takes JSON, and streams. Many send `*/*`, one of the two, or nothing,
    all of which the specification's letter would refuse."""
    ranges = {
        part.split(";")[0].strip().lower() for part in headers.get("accept", "*/*").split(",")
    }
    return (
        not ranges.isdisjoint({_JSON, "application/*", "*/*", ""}),
        not ranges.isdisjoint({_SSE, "text/*"}),
    )


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives the body, which was read for its method, once more; then what really comes."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _nothing() -> Message:
    await anyio.sleep_forever()
    raise AssertionError("unreachable")


def _unbuffered(send: Send) -> Send:
    """Tells proxies to keep nothing and to pass streams on at once."""

    async def unbuffered(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {b"cache-control": b"no-store", b"x-accel-buffering": b"no"}
            kept = [item for item in message["headers"] if item[0].lower() not in own]
            message = {**message, "headers": [*kept, *own.items()]}
        await send(message)

    return unbuffered
