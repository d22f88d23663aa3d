"""What passes between the index's owner and the other processes of this machine.

Frames on a unix socket: four bytes of length, big-endian, then one msgpack value. A request is
`[operation, *arguments]`; a response is `[True, result]`, or `[False, message, hint]` when the
operation failed. Numbers of vectors travel as the bytes of little-endian float32 and uint32.
"""

import hashlib
import os
import socket
import struct
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from backread.errors import Unavailable
from backread.settings import Settings
from backread.vectors.bm25 import SparseWords
from backread.vectors.encoded import EncodedFilter, EncodedPoint, EncodedQuery
from backread.vectors.index import ScoredPoint

MAX_FRAME_BYTES = 64 * 1024**2

_LENGTH = struct.Struct(">I")
_LONGEST_SOCKET_PATH = 100  # bytes; the system's own limit is 104 on macOS and 108 on Linux
_FLOATS = np.dtype("<f4")
_TOKENS = np.dtype("<u4")


def socket_path(settings: Settings) -> Path:
    """Where the owner listens: in the run folder, or, when that path is too long for a socket,
    in a private folder of the system's temporary one, under a name made from the run folder's."""
    path = settings.run_dir / "index.sock"
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()
    return Path(tempfile.gettempdir()) / f"backread-{os.getuid()}" / f"{digest}.sock"


def make_private(folder: Path) -> None:
    """Makes the folder if need be and lets its owner alone in. Raises Unavailable when it belongs
    to somebody else, who could then listen in our place."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    about = folder.stat(follow_symlinks=False)
    if about.st_uid != os.getuid():
        raise Unavailable(
            f"The folder {folder} belongs to another user.",
            hint="Set BACKREAD_HOME to a folder of your own with a shorter path.",
        )
    folder.chmod(0o700)


def send(connection: socket.socket, value: object) -> None:
    body = msgpack.packb(value)
    if len(body) > MAX_FRAME_BYTES:
        raise ValueError(f"a frame of {len(body)} bytes is too large")
    connection.sendall(_LENGTH.pack(len(body)) + body)


def receive(connection: socket.socket) -> Any:
    """The next value. Raises EOFError when the other side has closed, ConnectionError when it
    closed in the middle of a frame, ValueError when what comes is not a frame of ours."""
    header = _read(connection, _LENGTH.size)
    if header is None:
        raise EOFError("connection closed")
    (length,) = _LENGTH.unpack(header)
    if length > MAX_FRAME_BYTES:
        raise ValueError(f"a frame of {length} bytes is too large")
    body = _read(connection, length)
    if body is None:
        raise ConnectionError("connection closed inside a frame")
    return msgpack.unpackb(body)


def _read(connection: socket.socket, length: int) -> bytes | None:
    """Exactly `length` bytes; None if the other side closed before the first of them."""
    buffer = bytearray(length)
    view = memoryview(buffer)
    done = 0
    while done < length:
        count = connection.recv_into(view[done:])
        if count == 0:
            if done == 0:
                return None
            raise ConnectionError("connection closed inside a frame")
        done += count
    return bytes(buffer)


def pack_points(points: Sequence[EncodedPoint]) -> list[Any]:
    return [
        (
            point.id,
            point.account_id,
            point.group,
            _pack_words(point.words),
            _pack_vector(point.vector),
            point.occurred_at,
            point.platform,
        )
        for point in points
    ]


def unpack_points(packed: Sequence[Any]) -> list[EncodedPoint]:
    return [
        EncodedPoint(
            number, account_id, group, _unpack_words(words), _unpack_vector(vector), when, platform
        )
        for number, account_id, group, words, vector, when, platform in packed
    ]


def pack_vectors(vectors: Mapping[int, Sequence[float]]) -> list[Any]:
    return [(number, _pack_vector(vector)) for number, vector in vectors.items()]


def unpack_vectors(packed: Sequence[Any]) -> dict[int, Sequence[float]]:
    return {number: _unpack_vector(vector) or [] for number, vector in packed}


def pack_queries(queries: Sequence[EncodedQuery]) -> list[Any]:
    return [
        (
            (
                query.filter.account_id,
                query.filter.after,
                query.filter.before,
                query.filter.platforms,
                query.filter.groups,
            ),
            query.limit,
            None if query.words is None else _pack_words(query.words),
            _pack_vector(query.vector),
        )
        for query in queries
    ]


def unpack_queries(packed: Sequence[Any]) -> list[EncodedQuery]:
    return [
        EncodedQuery(
            EncodedFilter(account_id, after, before, tuple(platforms), tuple(groups)),
            limit,
            None if words is None else _unpack_words(words),
            _unpack_vector(vector),
        )
        for (account_id, after, before, platforms, groups), limit, words, vector in packed
    ]


def pack_answers(answers: Sequence[Sequence[ScoredPoint]]) -> list[Any]:
    return [list(points) for points in answers]


def unpack_answers(packed: Sequence[Any]) -> list[list[ScoredPoint]]:
    return [list(map(ScoredPoint._make, points)) for points in packed]


def _pack_words(words: SparseWords) -> tuple[bytes, bytes]:
    return (
        np.asarray(words.indices, dtype=_TOKENS).tobytes(),
        np.asarray(words.values, dtype=_FLOATS).tobytes(),
    )


def _unpack_words(packed: Sequence[bytes]) -> SparseWords:
    indices, values = packed
    return SparseWords(
        np.frombuffer(indices, dtype=_TOKENS).tolist(),
        np.frombuffer(values, dtype=_FLOATS).tolist(),
    )


def _pack_vector(vector: Sequence[float] | None) -> bytes | None:
    return None if vector is None else np.asarray(vector, dtype=_FLOATS).tobytes()


def _unpack_vector(packed: bytes | None) -> list[float] | None:
    if packed is None:
        return None
    numbers: list[float] = np.frombuffer(packed, dtype=_FLOATS).tolist()
    return numbers
