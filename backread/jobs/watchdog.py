"""Ends a worker that is connected to its broker and takes no messages any more.

Celery can come to that after several losses of the broker within seconds
(https://github.com/celery/celery/issues/8030). From outside such a worker looks idle, so it has
to look at its queue itself.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence

from celery import Celery
from celery.worker import state
from kombu.exceptions import ChannelError
from kombu.exceptions import OperationalError as BrokerError

from backread.log import get_logger

_LOOK_SECONDS = 2.0
_LOOKS_IN_VAIN = 3

_log = get_logger(__name__)


class Watchdog:
    """Looks now and then whether messages wait that the worker does not take."""

    def __init__(
        self,
        waiting: Callable[[], int],
        is_busy: Callable[[], bool],
        taken: Callable[[], int],
        end: Callable[[], None],
    ) -> None:
        self._waiting = waiting
        self._is_busy = is_busy
        self._taken = taken
        self._end = end
        self._taken_before = taken()
        self._in_vain = 0

    def look(self) -> None:
        """Calls `end` when messages have waited at each of the last looks, while the worker had
        nothing to do and took nothing."""
        taken = self._taken()
        is_stuck = taken == self._taken_before and not self._is_busy() and self._waiting() > 0
        self._taken_before = taken
        self._in_vain = self._in_vain + 1 if is_stuck else 0
        if self._in_vain >= _LOOKS_IN_VAIN:
            self._end()

    def run(self) -> None:
        """Looks until the process ends."""
        while True:
            time.sleep(_LOOK_SECONDS)
            self.look()


def watch_queues(app: Celery, queues: Sequence[str]) -> None:
    """Watches from a thread of the worker process until it ends."""

    def waiting() -> int:
        try:
            with app.connection_for_read() as connection:
                channel = connection.default_channel
                declared = (channel.queue_declare(queue=each, passive=True) for each in queues)
                return sum(each.message_count for each in declared)
        except (BrokerError, ChannelError, OSError):
            return 0  # there is nothing to take where no broker is

    def end() -> None:
        _log.error("worker_takes_no_messages", queues=list(queues))
        os._exit(1)  # in order it would wait for what never comes

    dog = Watchdog(
        waiting,
        is_busy=lambda: bool(state.reserved_requests),
        taken=lambda: state.all_total_count[0],
        end=end,
    )
    threading.Thread(target=dog.run, name="watchdog", daemon=True).start()
