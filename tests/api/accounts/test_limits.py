import pytest

from api.accounts.limits import SignInLimits
from backread.errors import RateLimited


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_eleventh_try_in_a_minute_is_refused_and_says_when_to_come_back() -> None:
    clock = Clock()
    limits = SignInLimits(clock)
    for _ in range(10):
        limits.take("203.0.113.5")
    with pytest.raises(RateLimited) as refusal:
        limits.take("203.0.113.5")
    assert 0 < refusal.value.retry_after_seconds <= 6
    limits.take("198.51.100.7")  # the owner at another address is not locked out
    clock.now += 6.0
    limits.take("203.0.113.5")


def test_one_ipv6_network_counts_as_one_client() -> None:
    limits = SignInLimits(Clock())
    tried = 0
    for number in range(1000):
        try:
            limits.take(f"2001:db8:1:2::{number:x}")
        except RateLimited:
            continue
        tried += 1
    assert tried == 10
    limits.take("2001:db8:1:3::1")


def test_failures_slow_an_account_down_up_to_a_bound_and_success_forgives() -> None:
    clock = Clock()
    limits = SignInLimits(clock)
    delays = []
    for _ in range(20):
        delays.append(limits.delay_seconds("ada@example.org"))
        limits.failed("ada@example.org")
    assert delays[:3] == [0.0, 0.0, 0.0]
    assert delays == sorted(delays)
    assert max(delays) == 4.0
    assert limits.delay_seconds("boris@example.org") == 0.0
    limits.succeeded("ada@example.org")
    assert limits.delay_seconds("ada@example.org") == 0.0
    limits.failed("ada@example.org")
    clock.now += 1000
    assert limits.delay_seconds("ada@example.org") == 0.0
