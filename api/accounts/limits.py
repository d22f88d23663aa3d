"""Limits on sign-in tries that slow a guesser down and never lock the owner out.

Two brakes. Each client address (for IPv6 its /64, which one household or attacker has whole) has
a bucket of 10 tries that refills by one every 6 seconds. Each account's answers are put off a
little more with every failure, up to `MAX_DELAY_SECONDS`: from any address the right password
still works at once or after that delay.

A third brake is on the six digits of an authenticator app, which whoever knows the password could
try out from many addresses: an account has 10 tries that refill by one every 30 seconds. Recovery
codes and passkeys are too long to guess and stay usable, so this locks nobody out either.

State is in memory, on purpose: a flood of wrong passwords then writes nothing to the database,
and forgetting it at a restart gives a guesser ten tries more. With several web processes each has
its own buckets, so the limits are per process.
"""

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from api.token_buckets import TokenBuckets
from backread.errors import RateLimited

BURST = 10
SECONDS_PER_TRY = 6.0
CODE_BURST = 10
SECONDS_PER_CODE = 30.0
FREE_FAILURES = 3
MAX_DELAY_SECONDS = 4.0
_FAILURES_FORGOTTEN_AFTER_SECONDS = 900.0
_MOST_ACCOUNTS = 20_000


@dataclass(frozen=True, slots=True)
class _Failures:
    count: int
    at: float


class SignInLimits:
    """Thread-safe. `clock` gives seconds that only grow."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tries = TokenBuckets(BURST, SECONDS_PER_TRY, clock)
        self._codes = TokenBuckets(CODE_BURST, SECONDS_PER_CODE, clock)
        self._failures: OrderedDict[str, _Failures] = OrderedDict()

    def take(self, address: str) -> None:
        """Counts a try from this address. Raises RateLimited when it has none left."""
        wait = self._tries.take(network(address))
        if wait:
            raise RateLimited("Too many sign-in tries from this network.", retry_after_seconds=wait)

    def take_code(self, account_id: str) -> None:
        """Counts a try of an app's code. Raises RateLimited when the account has none left."""
        wait = self._codes.take(account_id)
        if wait:
            raise RateLimited(
                "Too many wrong codes for this account.",
                retry_after_seconds=wait,
                hint=f"Use a recovery code or a passkey, or try again in {wait} seconds.",
            )

    def delay_seconds(self, account: str) -> float:
        """How long to put off the next answer for this account."""
        now = self._clock()
        with self._lock:
            failures = self._failures.get(account)
            if failures is None or now - failures.at > _FAILURES_FORGOTTEN_AFTER_SECONDS:
                return 0.0
            steps = failures.count - FREE_FAILURES
        return 0.0 if steps < 0 else min(MAX_DELAY_SECONDS, 0.25 * 2 ** min(steps, 10))

    def failed(self, account: str) -> None:
        now = self._clock()
        with self._lock:
            failures = self._failures.pop(account, None)
            if failures is None or now - failures.at > _FAILURES_FORGOTTEN_AFTER_SECONDS:
                failures = _Failures(0, now)
            self._failures[account] = _Failures(failures.count + 1, now)
            while len(self._failures) > _MOST_ACCOUNTS:
                self._failures.popitem(last=False)

    def succeeded(self, account: str) -> None:
        with self._lock:
            self._failures.pop(account, None)


def network(address: str) -> str:
    """What one client can be taken to own: an IPv4 address, or an IPv6 /64."""
    try:
        parsed = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
