"""Opens the search index that the settings name."""

import fcntl
import os
import time
from collections.abc import Callable
from pkgutil import resolve_name

from backread.errors import Unavailable
from backread.settings import Settings
from backread.vectors.edge import EdgeIndex
from backread.vectors.index import VectorIndex
from backread.vectors.socket_index import SocketIndex, is_owner_alive
from backread.vectors.wire import socket_path

_LOCK_WAIT_SECONDS = 10.0
_LOCK_POLL_SECONDS = 0.1


def open_index(settings: Settings, embedding_signature: str | Callable[[], str]) -> VectorIndex:
    """The index for vectors of the embedding model with this signature, or of the one that is
    named when it is asked.

    A Qdrant server if the settings name one; else the embedded index: through its owner when
    `backread up` runs, in this process when it does not and only then. Call it after a fork,
    never before. Raises Unavailable when another process keeps the embedded index to itself.
    """
    if settings.qdrant_url:
        # By name: the client takes seconds to import, and most installations never need it.
        server = resolve_name("backread.vectors.qdrant:QdrantIndex")
        connected: VectorIndex = server(
            settings.qdrant_url,
            embedding_signature,
            api_key=settings.qdrant_api_key.get_secret_value(),
        )
        return connected
    path = socket_path(settings)
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
    while True:
        if is_owner_alive(path):
            return SocketIndex(path, embedding_signature)
        try:
            if _has_server(settings):
                raise Unavailable(
                    "The search index of the running server is not there yet.",
                    hint="It is being started; try once more in a moment.",
                )
            return EdgeIndex(settings.index_dir, embedding_signature)
        except Unavailable:
            if time.monotonic() > deadline:
                raise
        time.sleep(_LOCK_POLL_SECONDS)


def _has_server(settings: Settings) -> bool:
    """Whether a supervisor holds the data folder. Its owner may be away for the moment of a
    restart: who took the index then would keep the owner out of it."""
    try:
        handle = os.open(settings.run_dir / "server.lock", os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
