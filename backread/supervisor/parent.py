"""How a child notices that its supervisor is gone, on every system: it reads from a pipe of which
only the supervisor holds the other end."""

import os
import signal
import threading

_TIME_TO_STOP_SECONDS = 15.0


def end_with_parent(pipe: int) -> None:
    """Stops this process, first politely, once the supervisor that holds `pipe` has ended."""
    threading.Thread(target=_wait_and_end, args=(pipe,), name="parent", daemon=True).start()


def _wait_and_end(pipe: int) -> None:
    while os.read(pipe, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(_TIME_TO_STOP_SECONDS)
    os._exit(1)
