"""Token buckets: so many at once, then one per interval. In memory, per process."""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_MOST_KEYS = 20_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class TokenBuckets:
    """Thread-safe. `clock` gives seconds that only grow. Keys used longest ago are dropped when
    there are too many, so a flood of keys cannot fill the memory."""

    def __init__(
        self, burst: int, seconds_each: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst = burst
        self._seconds_each = seconds_each
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def left(self, key: str) -> float:
        """How many there are to take now, parts of one included."""
        now = self._clock()
        with self._lock:
            bucket = self._buckets.get(key)
        if bucket is None:
            return float(self._burst)
        return min(float(self._burst), bucket.left + (now - bucket.at) / self._seconds_each)

    def take(self, key: str) -> int:
        """Takes one. Returns 0, or the whole seconds to wait when there is none to take."""
        now = self._clock()
        with self._lock:
            bucket = self._buckets.pop(key, None) or _Bucket(self._burst, now)
            refilled = bucket.left + (now - bucket.at) / self._seconds_each
            left = min(float(self._burst), refilled)
            is_granted = left >= 1
            self._buckets[key] = _Bucket(left - 1 if is_granted else left, now)
            while len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
        return 0 if is_granted else math.ceil((1 - left) * self._seconds_each)
