"""Cursor's `store.db`: one chat of its agent, as blobs that are named by their hashes.

`meta` holds JSON in hexadecimal that names the root blob. The root is a protobuf message whose
field 1 lists the messages in order; each of those is a JSON object.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any

from ingest.importers.base import dict_in, text_in
from ingest.importers.envelopes import ROWS_KEY, STORE_KEY
from ingest.json_stream import load

_ID_BYTES = 32  # SHA-256
_CHILDREN_FIELD = 1
_BLOB = """
    SELECT CASE WHEN length(data) <= ? THEN data END, length(data) FROM blobs WHERE id = ?
"""
_MOST_BLOBS = 200_000
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # protobuf wire types
_MOST_SHIFT = 63


def store_chats(database: sqlite3.Connection, most: int) -> Iterator[dict[str, Any]]:
    """The chat, or {} when its messages are larger than `most` bytes; none without a root. Blobs
    that are neither messages nor lists of blobs stand as `{"backread_unread": their id}`."""
    for (value,) in database.execute("SELECT value FROM meta"):
        about = _about(value)
        root = text_in(about.get("latestRootBlobId"))
        if not text_in(about.get("agentId")) or not root:
            continue
        messages: list[dict[str, Any]] = []
        size = 0
        for blob_id, body in _walk(database, root, most):
            size += len(body or b"")
            if body is None or size > most:
                yield {}
                break
            message = _json(body)
            known = message if "role" in message else {"backread_unread": blob_id}
            messages.append({"backread_id": blob_id} | known)
        else:
            yield {STORE_KEY: about, ROWS_KEY: messages}


def _walk(database: sqlite3.Connection, root: str, most: int) -> Iterator[tuple[str, bytes | None]]:
    """The leaves under the root, in order; None for one larger than `most` bytes. A list of blobs
    is gone into once; circles end."""
    waiting = [root]
    opened: set[str] = set()
    count = 0
    while waiting and count < _MOST_BLOBS:
        blob_id = waiting.pop()
        count += 1
        row = database.execute(_BLOB, (most, blob_id)).fetchone()
        if row is None:
            continue
        if row[0] is None and row[1]:
            yield blob_id, None
            continue
        body = row[0].encode() if isinstance(row[0], str) else bytes(row[0] or b"")
        children = [] if body.lstrip().startswith(b"{") else list(_children(body))
        if not children:
            yield blob_id, body
        elif blob_id not in opened:
            opened.add(blob_id)
            waiting += reversed(children)


def _children(body: bytes) -> Iterator[str]:
    """Ids in field 1 of a protobuf message; none after a place that is no protobuf.
    Encoding: https://protobuf.dev/programming-guides/encoding/"""
    at = 0
    while at < len(body):
        tag, at = _varint(body, at)
        wire = tag & 7
        if wire == _BYTES:
            length, at = _varint(body, at)
            piece = body[at : at + length]
            at += length
            if tag >> 3 == _CHILDREN_FIELD and len(piece) == length == _ID_BYTES:
                yield piece.hex()
        elif wire == _VARINT:
            _, at = _varint(body, at)
        elif wire in (_FIXED64, _FIXED32):
            at += 8 if wire == _FIXED64 else 4
        else:
            return


def _varint(body: bytes, at: int) -> tuple[int, int]:
    """The number there, and where it ends; the end of the body when it is cut off."""
    value = shift = 0
    while at < len(body) and shift <= _MOST_SHIFT:
        byte = body[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return 7, len(body)  # a wire type that does not exist


def _about(value: Any) -> dict[str, Any]:
    """The JSON behind the hexadecimal digits; some versions write it as it is."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    try:
        return _json(bytes.fromhex(text))
    except ValueError:
        return _json(text.encode("utf-8", "replace"))


def _json(body: bytes) -> dict[str, Any]:
    try:
        return dict_in(load(body))
    except (ValueError, RecursionError):
        return {}
