"""The index as every process but its owner sees it: the owner's answers over a unix socket."""

import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from backread.errors import Unavailable
from backread.vectors import wire
from backread.vectors.encoded import EncodedPoint, EncodedQuery, EncodingIndex
from backread.vectors.index import Collection, ScoredPoint

_ANSWER_SECONDS = 120.0
_HINT = "`backread up` starts it; if it is running, it may be starting again: try once more."


class SocketIndex(EncodingIndex):
    """Talks to the owner at `path`. Threads may share it; each call has a connection to itself.

    Connects anew when the owner was restarted. A call that found its connection dead is made
    once more, which is safe because every operation can be repeated. Raises Unavailable when
    there is no owner.
    """

    def __init__(self, path: Path, embedding_signature: str | Callable[[], str]) -> None:
        super().__init__(embedding_signature)
        self._path = path
        self._lock = threading.Lock()
        self._idle: list[socket.socket] = []
        self._process = os.getpid()

    @property
    def lexical_signature(self) -> str:
        return str(self._call("signature"))

    def upsert_encoded(
        self, collection: Collection, dense: str, points: Sequence[EncodedPoint]
    ) -> None:
        self._call("upsert", collection.value, dense, wire.pack_points(points))

    def add_encoded(
        self,
        collection: Collection,
        account_id: str,
        dense: str,
        vectors: Mapping[int, Sequence[float]],
    ) -> None:
        self._call("add", collection.value, account_id, dense, wire.pack_vectors(vectors))

    def drop_dense(self, dense: str) -> None:
        self._call("drop", dense)

    def search_encoded(
        self, collection: Collection, dense: str, queries: Sequence[EncodedQuery]
    ) -> list[list[ScoredPoint]]:
        packed = self._call("search", collection.value, dense, wire.pack_queries(queries))
        return wire.unpack_answers(packed)

    def delete(self, collection: Collection, account_id: str, ids: Sequence[int]) -> None:
        self._call("delete", collection.value, account_id, list(ids))

    def delete_group(self, collection: Collection, account_id: str, group: str) -> None:
        self._call("delete_group", collection.value, account_id, group)

    def delete_account(self, account_id: str) -> None:
        self._call("delete_account", account_id)

    def count(self, collection: Collection, account_id: str) -> int:
        return int(self._call("count", collection.value, account_id))

    def flush(self) -> None:
        self._call("flush")

    def close(self) -> None:
        with self._lock:
            for connection in self._idle:
                connection.close()
            self._idle.clear()

    def _call(self, *asked: Any) -> Any:
        connection = self._take_idle()
        if connection is not None:
            try:
                return self._ask(connection, asked)
            except (EOFError, ConnectionError):
                self.close()  # the owner was restarted, so the other idle ones are dead too
        connection = connect(self._path)
        try:
            return self._ask(connection, asked)
        except (EOFError, ConnectionError) as error:
            raise Unavailable(
                "The search index went away while it was asked.", hint=_HINT
            ) from error

    def _ask(self, connection: socket.socket, asked: Sequence[Any]) -> Any:
        try:
            wire.send(connection, asked)
            answer = wire.receive(connection)
        except TimeoutError as error:
            connection.close()
            raise Unavailable(
                f"The search index did not answer within {_ANSWER_SECONDS:.0f} seconds.", hint=_HINT
            ) from error
        except BaseException:
            connection.close()  # half a frame may be on it
            raise
        with self._lock:
            self._idle.append(connection)
        if not answer[0]:
            raise Unavailable(answer[1], hint=answer[2])
        return answer[1]

    def _take_idle(self) -> socket.socket | None:
        with self._lock:
            if os.getpid() != self._process:
                # A forked child has copies of its parent's connections: not its own to speak on.
                self._idle.clear()
                self._process = os.getpid()
            return self._idle.pop() if self._idle else None


def connect(path: Path) -> socket.socket:
    """A connection to the owner. Raises Unavailable when nobody listens at `path`."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_ANSWER_SECONDS)
    try:
        connection.connect(str(path))
    except (FileNotFoundError, ConnectionError) as error:
        connection.close()
        raise Unavailable("The search index is not running.", hint=_HINT) from error
    return connection


def is_owner_alive(path: Path) -> bool:
    """Whether somebody listens at `path` now."""
    try:
        connect(path).close()
    except Unavailable:
        return False
    return True
