"""How many requests go out at once, shared by all threads of the process.

A server that says "too many" halves it, and is left alone for as long as it asks; each run of good
answers lets one more through. A server that fails again and again is not asked at all for a
while, so that nobody waits for what will not come.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_GOOD_ANSWERS_FOR_ONE_MORE = 8
_FAILURES_UNTIL_CLOSED = 3
_CLOSED_SECONDS = 30.0


class Gate:
    def __init__(self, most: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._now = now
        self._changed = threading.Condition()
        self._limit = most
        self._running = 0
        self._good = 0
        self._failures = 0
        self._paused_until = 0.0
        self._closed_until = 0.0

    @property
    def limit(self) -> int:
        """Requests that may be under way at present."""
        return self._limit

    @property
    def pause_seconds(self) -> float:
        """How long the server still wants to be left alone."""
        return max(0.0, self._paused_until - self._now())

    @property
    def is_closed(self) -> bool:
        """Whether the server has failed so often that it is not asked at present."""
        return self._now() < self._closed_until

    @contextmanager
    def slot(self, seconds: float) -> Iterator[bool]:
        """Waits for a place, at most `seconds`; gives False when there was none in time."""
        with self._changed:
            has_place = self._changed.wait_for(lambda: self._running < self._limit, seconds)
            self._running += has_place
        try:
            yield has_place
        finally:
            with self._changed:
                self._running -= has_place
                self._changed.notify()

    def answered(self) -> None:
        with self._changed:
            self._failures = 0
            self._good += 1
            if self._good >= _GOOD_ANSWERS_FOR_ONE_MORE and self._limit < self._most:
                self._good = 0
                self._limit += 1
                self._changed.notify()

    def too_many(self, seconds: float) -> None:
        """The server said so, and wants to be left alone for `seconds`."""
        with self._changed:
            self._good = 0
            self._limit = max(1, self._limit // 2)
            self._paused_until = max(self._paused_until, self._now() + seconds)

    def gave_up(self) -> None:
        """A call ended without an answer, after all its tries."""
        with self._changed:
            self._failures += 1
            if self._failures >= _FAILURES_UNTIL_CLOSED:
                self._failures = 0
                self._closed_until = self._now() + _CLOSED_SECONDS
