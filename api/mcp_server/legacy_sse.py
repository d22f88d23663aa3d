"""HTTP+SSE, the transport of protocol revision 2024-11-05: a client reads an event stream and
posts its messages to an address that the stream's first event names.

The stream is held by one process; posts reach any. Whoever gets a post answers it, as it would
on Streamable HTTP, and leaves the answer in the database unless it holds the stream itself. The
holder looks there twice a second, so several web processes need neither a message bus nor a
proxy that sends one client always to the same of them.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from sqlalchemy.exc import SQLAlchemyError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.mcp_server.access import error
from api.mcp_server.streamable import StreamableHttp
from api.oauth.resources import MESSAGES_PATH
from backread.crypto import new_token
from backread.domain import Principal
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.models import EventStream, StreamReply
from backread.store.repositories import event_streams

_LOOK_SECONDS = 0.5
_LOOKS_BETWEEN_SIGNS_OF_LIFE = 60
_SILENT = timedelta(minutes=5)  # ten signs of life missed: the process is gone
_MOST_STREAMS = 50  # of one account in one process; each costs a connection
_MOST_WAITING = 100  # replies that a client has not read
_KEEP_ALIVE_SECONDS = 15
_FAREWELL_SECONDS = 1.0  # for a stream to end in order when the server stops
_log = get_logger("api.mcp")


class LegacySse:
    """The event streams of one process, and the posts that reach it."""

    def __init__(self, kernel: Kernel, http: StreamableHttp) -> None:
        self._kernel = kernel
        self._http = http
        self._inboxes: dict[str, MemoryObjectSendStream[str]] = {}
        self._accounts: dict[str, str] = {}
        self._group: TaskGroup

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serves while the block runs. Once per instance."""
        async with anyio.create_task_group() as self._group:
            self._group.start_soon(self._look_for_replies)
            yield
            self._group.cancel_scope.cancel()

    async def open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Streams until the client leaves or the server stops."""
        principal: Principal = Request(scope).state.principal
        if list(self._accounts.values()).count(principal.account_id) >= _MOST_STREAMS:
            response = error(429, "too_many_streams", "close a stream before you open another")
            response.headers["Retry-After"] = "30"
            await response(scope, receive, send)
            return
        stream_id = new_token()
        inbox, replies = anyio.create_memory_object_stream[str](_MOST_WAITING)
        self._inboxes[stream_id], self._accounts[stream_id] = inbox, principal.account_id
        try:
            await to_thread.run_sync(self._store_stream, stream_id, principal)
            stopping = anyio.Event()
            response = EventSourceResponse(
                _events(stream_id, replies),
                headers={"Cache-Control": "no-store"},
                ping=_KEEP_ALIVE_SECONDS,
                ping_message_factory=lambda: ServerSentEvent(comment="keep-alive"),
                shutdown_event=stopping,
                shutdown_grace_period=_FAREWELL_SECONDS,
            )
            async with anyio.create_task_group() as group:
                group.start_soon(_close_when, stopping, inbox)
                await response(scope, receive, send)
                group.cancel_scope.cancel()
        finally:
            del self._inboxes[stream_id], self._accounts[stream_id]
            inbox.close()
            replies.close()
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._delete_stream, stream_id)

    async def refusal(self, request: Request) -> Response | None:
        """Why a post goes no further, or None. Its stream must be open and belong to the same
        account and client; which of their tokens it carries does not matter, since clients
        refresh while a stream is open."""
        stream_id = request.query_params.get("session_id")
        if not stream_id:
            return error(400, "invalid_request", "session_id is missing")
        is_open = await to_thread.run_sync(self._is_open, stream_id, request.state.principal)
        return None if is_open else error(404, "not_found", "there is no such open stream")

    async def accept(
        self, scope: Scope, receive: Receive, send: Send, body: bytes, message: Any
    ) -> None:
        """Takes a message that `refusal` let through. Its answer goes to the stream."""
        if not isinstance(message, dict):
            problem = error(400, "invalid_request", "the body is not one JSON-RPC message")
            await problem(scope, receive, send)
            return
        await Response(status_code=202)(scope, receive, send)
        if "method" in message and message.get("id") is not None:
            self._group.start_soon(self._answer, scope, message, body)

    async def _answer(self, scope: Scope, message: dict[str, Any], body: bytes) -> None:
        try:
            answer = json.loads(await self._http.answer(scope, body, message))
            # Where the SDK could not make out a request, its error names none.
            reply = json.dumps({**answer, "id": message["id"]})
            await self._deliver(Request(scope).query_params["session_id"], reply)
        except (SQLAlchemyError, ValueError):
            _log.exception("stream_reply_failed")

    async def _deliver(self, stream_id: str, reply: str) -> None:
        if stream_id in self._inboxes:
            self._put(stream_id, reply)
        else:
            await to_thread.run_sync(self._store_reply, stream_id, reply)

    def _put(self, stream_id: str, reply: str) -> None:
        inbox = self._inboxes.get(stream_id)
        if inbox is None:
            return  # its client has just left
        try:
            inbox.send_nowait(reply)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # it is about to
        except anyio.WouldBlock:
            _log.warning("stream_not_read")
            inbox.close()

    async def _look_for_replies(self) -> None:
        looks = 0
        while True:
            await anyio.sleep(_LOOK_SECONDS)
            if not self._inboxes:
                continue
            looks += 1
            try:
                stream_ids = tuple(self._inboxes)
                for stream_id, reply in await to_thread.run_sync(self._take_replies, stream_ids):
                    self._put(stream_id, reply)
                if looks % _LOOKS_BETWEEN_SIGNS_OF_LIFE == 0:
                    known = await to_thread.run_sync(self._mark_seen, stream_ids)
                    for stream_id in set(stream_ids) - known:
                        if stream_id in self._inboxes:
                            self._inboxes[stream_id].close()  # the client opens a new one
            except SQLAlchemyError:
                _log.exception("stream_replies_not_read")  # the next look may do better

    def _store_stream(self, stream_id: str, principal: Principal) -> None:
        with self._kernel.store.write() as session:
            event_streams.delete_silent_streams(session, seen_before=utcnow() - _SILENT)
            session.add(
                EventStream(
                    id=stream_id,
                    account_id=principal.account_id,
                    client_id=principal.client_id or "",
                )
            )

    def _delete_stream(self, stream_id: str) -> None:
        with self._kernel.store.write() as session:
            event_streams.delete_streams(session, [stream_id])

    def _is_open(self, stream_id: str, principal: Principal) -> bool:
        with self._kernel.store.read() as session:
            return event_streams.find_stream(session, principal, stream_id) is not None

    def _store_reply(self, stream_id: str, reply: str) -> None:
        with self._kernel.store.write() as session:
            if session.get(EventStream, stream_id) is not None:
                session.add(StreamReply(stream_id=stream_id, body=reply))

    def _take_replies(self, stream_ids: tuple[str, ...]) -> list[tuple[str, str]]:
        with self._kernel.store.read() as session:
            if not event_streams.has_replies(session, stream_ids):
                return []
        with self._kernel.store.write() as session:
            return event_streams.take_replies(session, stream_ids)

    def _mark_seen(self, stream_ids: tuple[str, ...]) -> frozenset[str]:
        with self._kernel.store.write() as session:
            return event_streams.mark_seen(session, stream_ids, now=utcnow())


async def _close_when(stopping: anyio.Event, inbox: MemoryObjectSendStream[str]) -> None:
    await stopping.wait()
    inbox.close()


async def _events(
    stream_id: str, replies: MemoryObjectReceiveStream[str]
) -> AsyncIterator[dict[str, str]]:
    """The address comes at once and is relative to the client's own, so that it works under
    every name and scheme that a proxy gives this server."""
    yield {"event": "endpoint", "data": f"{MESSAGES_PATH}?session_id={stream_id}"}
    async for reply in replies:
        yield {"event": "message", "data": reply}
