"""Waiting for something to happen in a folder, as the system tells it."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

_POLL_MS = 5_000  # between two looks, where the system tells nothing
_STEP_SECONDS = 0.5


class FolderChanges:
    """Changes in a folder, by the system's own events; where it has none to give, such as on a
    folder with more subfolders than the system watches, by looking at it again and again."""

    def __init__(self, folder: Path, stop: threading.Event) -> None:
        self._folder = folder
        self._stop = stop
        self._events: Iterator[object] | None = None

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Returns when something has changed, after `seconds`, or once the stop event is set."""
        until = self.now() + seconds
        while not self._stop.is_set() and self.now() < until:
            if self._next(min(_STEP_SECONDS, seconds)):
                return

    def start_over(self) -> None:
        """For a folder that was gone: events of the former one tell nothing of the new one."""
        self._events = None

    def _next(self, seconds: float) -> object:
        try:
            self._events = self._events or self._open(force_polling=None)
            return next(self._events, None)
        except FileNotFoundError:
            self._events = None
            self._stop.wait(seconds)
        except (OSError, RuntimeError):  # the system's limit of watches, or no events at all
            self._events = self._open(force_polling=True)
        return None

    def _open(self, *, force_polling: bool | None) -> Iterator[object]:
        from watchfiles import watch

        return watch(
            self._folder,
            watch_filter=None,
            stop_event=self._stop,
            rust_timeout=int(_STEP_SECONDS * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=force_polling,
            poll_delay_ms=_POLL_MS,
            ignore_permission_denied=True,
        )
