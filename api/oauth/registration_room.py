"""How many more clients may register: anybody may, so a flood has to cost little.

Counting registrations reads all that wait unused, and forgetting old ones writes. So a process
looks once for many registrations, and while there is no room it refuses without asking the
database at all. Several processes together may go over the limit by what each of them has left.
"""

import math
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from api.oauth.errors import OAuthError
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.repositories import oauth

UNUSED_LIFE = timedelta(hours=24)
MOST_UNUSED_CLIENTS = 5_000
_EVICTABLE_AFTER = timedelta(minutes=15)  # time enough for a person to sign in and consent
_MOST_AT_ONCE = 100
_LOOK_EVERY_SECONDS = 10.0


class RegistrationRoom:
    """One for a process. Thread-safe. `clock` gives seconds that only grow."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._left = 0
        self._looked_at = -math.inf
        self._was_full = False

    def take(self, kernel: Kernel) -> None:
        """Room for one more. Raises OAuthError with status 429 when too many wait unused."""
        with self._lock:
            is_old = self._clock() - self._looked_at >= _LOOK_EVERY_SECONDS
            if is_old or (self._left <= 0 and not self._was_full):
                left = _room(kernel)
                self._was_full = left <= 0
                self._left = min(left, _MOST_AT_ONCE)
                self._looked_at = self._clock()
            if self._left <= 0:
                raise OAuthError(
                    "temporarily_unavailable",
                    "too many clients have registered and not signed in; "
                    "try again in a few minutes",
                    status=429,
                )
            self._left -= 1


def _room(kernel: Kernel) -> int:
    now = utcnow()
    for life in (UNUSED_LIFE, _EVICTABLE_AFTER):
        with kernel.store.write() as session:
            oauth.delete_unused_clients(session, not_seen_since=now - life)
            left = MOST_UNUSED_CLIENTS - oauth.count_unused_clients(session)
        if left > 0:
            break
    return left
