"""Helpers that tests of several areas use."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T], *, seconds: float = 20.0, what: str = "the condition"
) -> T:
    """The first true value of `condition()`; fails the test when there is none in time."""
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until, f"{what} did not come within {seconds:g} seconds"
        time.sleep(0.05)
    return value
