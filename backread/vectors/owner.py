"""The process that owns the embedded index and answers for it over a private unix socket.

One thread per connection; connections are few (the web server and the workers of one machine) and
stay open. Who may connect is settled by the folder the socket is in.
"""

import signal
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from backread.errors import BackreadError, Unavailable
from backread.log import get_logger
from backread.settings import Settings
from backread.vectors import wire
from backread.vectors.edge import EdgeIndex
from backread.vectors.index import Collection

_log = get_logger(__name__)

# A command that works on the index without a server may hold it when the server starts.
LOCK_WAIT_SECONDS = 60.0
_LOCK_POLL_SECONDS = 0.2
_SIGNAL_POLL_SECONDS = 0.5


def serve(settings: Settings, stop: threading.Event | None = None) -> None:
    """Owns the index until `stop` is set, or until SIGTERM or SIGINT where none is given.

    When the socket accepts connections, the index is open. On the way out every accepted write is
    flushed to disk and the socket removed. Raises Unavailable when another process keeps the
    index for longer than `LOCK_WAIT_SECONDS`.
    """
    if stop is None:
        stop = _stop_on_signals()
    path = wire.socket_path(settings)
    wire.make_private(path.parent)
    index = _open_when_free(settings, stop)
    if index is None:
        return
    try:
        path.unlink(missing_ok=True)  # left by an owner that was killed; the lock says it is gone
        with _Server(path, index) as server:
            accepting = threading.Thread(target=server.serve_forever, name="index-accept")
            accepting.start()
            _log.info("index_owner_ready", socket=str(path))
            # With a limit: a signal that comes just before an endless wait is not seen in it.
            while not stop.wait(_SIGNAL_POLL_SECONDS):
                pass
            server.shutdown()
            accepting.join()
            server.hang_up()
    finally:
        path.unlink(missing_ok=True)
        index.close()
    _log.info("index_owner_stopped")


def _stop_on_signals() -> threading.Event:
    stop = threading.Event()

    def ask_to_stop(_number: int, _frame: object) -> None:
        # Not here: the handler may have interrupted this thread inside `stop.wait()`, which
        # holds the lock that `set()` wants.
        threading.Thread(target=stop.set).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask_to_stop)
    return stop


def _open_when_free(settings: Settings, stop: threading.Event) -> EdgeIndex | None:
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    waits = False
    while not stop.is_set():
        try:
            return EdgeIndex(settings.index_dir)
        except Unavailable as error:
            if time.monotonic() > deadline:
                raise
            if not waits:
                _log.info("index_owner_waits", reason=error.message)
            waits = True
            stop.wait(_LOCK_POLL_SECONDS)
    return None


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = False  # closing the server waits for answers that are under way
    request_queue_size = 64

    def __init__(self, path: Path, index: EdgeIndex) -> None:
        self.index = index
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(str(path), _Connection)
        path.chmod(0o600)

    def process_request(self, request: Any, client_address: Any) -> None:
        # Noted by the thread that accepts, so that none is missed when that has ended.
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def forget(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def hang_up(self) -> None:
        """Ends every connection after the answer it is on."""
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):  # the client was first
                    connection.shutdown(socket.SHUT_RD)


class _Connection(socketserver.BaseRequestHandler):
    request: socket.socket
    server: _Server

    def finish(self) -> None:
        self.server.forget(self.request)

    def handle(self) -> None:
        while True:
            try:
                asked = wire.receive(self.request)
            except (EOFError, ConnectionError):
                return
            except ValueError as error:
                _log.warning("index_owner_bad_frame", error=str(error))
                return
            try:
                wire.send(self.request, _answer(self.server.index, asked))
            except ConnectionError:
                return


def _answer(index: EdgeIndex, asked: Any) -> list[Any]:
    try:
        operation, *arguments = asked
        return [True, _OPERATIONS[operation](index, *arguments)]
    except BackreadError as error:
        return [False, error.message, error.hint]
    except Exception:  # noqa: BLE001 - this process's edge: a bad request must not end it
        _log.exception("index_owner_failed")
        return [False, "The search index failed to answer.", "Its log says why."]


def _upsert(index: EdgeIndex, collection: str, dense: str, points: list[Any]) -> None:
    index.upsert_encoded(Collection(collection), dense, wire.unpack_points(points))


def _add(
    index: EdgeIndex, collection: str, account_id: str, dense: str, vectors: list[Any]
) -> None:
    index.add_encoded(Collection(collection), account_id, dense, wire.unpack_vectors(vectors))


def _search(index: EdgeIndex, collection: str, dense: str, queries: list[Any]) -> list[Any]:
    found = index.search_encoded(Collection(collection), dense, wire.unpack_queries(queries))
    return wire.pack_answers(found)


def _delete(index: EdgeIndex, collection: str, account_id: str, ids: list[int]) -> None:
    index.delete(Collection(collection), account_id, ids)


def _delete_group(index: EdgeIndex, collection: str, account_id: str, group: str) -> None:
    index.delete_group(Collection(collection), account_id, group)


def _count(index: EdgeIndex, collection: str, account_id: str) -> int:
    return index.count(Collection(collection), account_id)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "signature": lambda index: index.lexical_signature,
    "upsert": _upsert,
    "add": _add,
    "drop": EdgeIndex.drop_dense,
    "search": _search,
    "delete": _delete,
    "delete_group": _delete_group,
    "delete_account": EdgeIndex.delete_account,
    "count": _count,
    "flush": EdgeIndex.flush,
}
