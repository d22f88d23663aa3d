"""The embedded index as a server's processes may use it: through its owner, never themselves."""

import time

from backread.errors import Unavailable
from backread.kernel import Kernel
from backread.settings import Settings
from backread.vectors.socket_index import is_owner_alive
from backread.vectors.wire import socket_path

_POLL_SECONDS = 0.05
_WAIT_SECONDS = 60.0


def wait_for_index(settings: Settings, seconds: float) -> bool:
    """True as soon as the index can be used; False when it cannot after `seconds`."""
    until = time.monotonic() + seconds
    while not settings.qdrant_url and not is_owner_alive(socket_path(settings)):
        if time.monotonic() > until:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def open_server_kernel(settings: Settings) -> Kernel:
    """A kernel whose index is open. Opened later, while the owner restarts, the index would be
    taken by this process and kept from the owner. Raises Unavailable without an owner."""
    if not wait_for_index(settings, _WAIT_SECONDS):
        raise Unavailable(
            "The process that owns the search index is not running.",
            hint="`backread up` starts it. On several machines, set BACKREAD_QDRANT_URL.",
        )
    kernel = Kernel(settings)
    _ = kernel.index
    return kernel
