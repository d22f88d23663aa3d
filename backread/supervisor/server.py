"""The supervisor's loop: which processes a server has, in which order they start and end."""

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from backread.errors import Unavailable
from backread.settings import Settings
from backread.supervisor.broker import LocalBroker
from backread.supervisor.children import Child, ChildSpec
from backread.supervisor.processes import child_environment, rest_of_server, web_server

_WATCH_SECONDS = 1.0
_STOP_SECONDS = 12.0
_STOP_LAST_SECONDS = 5.0
_TRIES_BEFORE_FIRST_PAGE = 3

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ready:
    """Told once, when the first page can be opened. `setup_token` is empty once an owner exists."""

    url: str
    setup_token: str


class Supervisor:
    """`say` gets a line whenever something happens that a person should know."""

    def __init__(
        self,
        settings: Settings,
        listener: socket.socket,
        broker: LocalBroker | None,
        *,
        on_ready: Callable[[Ready], None],
        say: Say,
    ) -> None:
        self._settings = settings
        self._broker = broker
        self._on_ready = on_ready
        self._say = say
        self._children: list[Child] = []
        self._pipe, self._pipe_end = os.pipe()
        self._ready_pipe, self._ready_end = os.pipe()
        os.set_blocking(self._ready_pipe, False)
        self._web = self._child(web_server(listener.fileno(), self._ready_end))
        self._is_ready = False
        self._stop_requested = False
        self._logs_trimmed_at = time.monotonic()

    def run(self) -> None:
        """Returns after SIGTERM or SIGINT, when every child has ended: within 20 seconds.

        Raises Unavailable when the web server cannot be started."""
        with self._signals() as wake_up:
            try:
                self._start_first()
                while not self._stop_requested:
                    self._watch(wake_up)
                self._say("Stopping…")
            finally:
                self._stop_all()

    def _start_first(self) -> None:
        """What the first page needs. The rest follows when it is there, so that it is there
        soon."""
        if self._broker is not None:
            self._broker.clear()
            self._start(self._child(ChildSpec("broker", self._broker.command, is_python=False)))
        if not self._settings.qdrant_url:
            self._start(self._child(ChildSpec("index", ["index-owner"])))
        self._start(self._web)

    def _start_rest(self) -> None:
        for spec in rest_of_server(self._settings):
            self._start(self._child(spec))

    def _child(self, spec: ChildSpec) -> Child:
        log = self._settings.home / "logs" / f"{spec.name}.log"
        return Child(spec, child_environment(self._settings), log, self._pipe)

    def _start(self, child: Child) -> None:
        self._children.append(child)
        child.start()

    def _watch(self, wake_up: int) -> None:
        now = time.monotonic()
        due = [child.start_at - now for child in self._children if child.start_at is not None]
        pipes = [wake_up] if self._is_ready else [wake_up, self._ready_pipe]
        readable, _, _ = select.select(pipes, [], [], max(0.0, min([_WATCH_SECONDS, *due])))
        if wake_up in readable:
            os.read(wake_up, 1024)
        if self._ready_pipe in readable:
            self._announce()
        for child in self._children:
            self._look_after(child)
        if now - self._logs_trimmed_at > 60:
            self._logs_trimmed_at = now
            for child in self._children:
                child.trim_log()

    def _announce(self) -> None:
        token = json.loads(os.read(self._ready_pipe, 4096).splitlines()[0])["setup_token"]
        self._is_ready = True
        self._on_ready(Ready(self._settings.origin, token))
        self._start_rest()

    def _look_after(self, child: Child) -> None:
        code = child.crashed()
        if code is not None and not self._stop_requested:
            self._report_crash(child, code)
        for line in child.new_errors():
            self._say(f"{child.spec.name}: {readable_line(line)}")
        if child.start_at is not None and child.start_at <= time.monotonic():
            child.start()

    def _report_crash(self, child: Child, code: int) -> None:
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        lines = child.last_lines(3)
        if child is self._web and not self._is_ready and child.crashes >= _TRIES_BEFORE_FIRST_PAGE:
            raise Unavailable(
                f"The web server {how} at each start. " + " / ".join(lines),
                hint=f"Its whole log is {child.log}.",
            )
        self._say(f"{child.spec.name} {how} and is started again. Log: {child.log}")

    @contextmanager
    def _signals(self) -> Iterator[int]:
        """Yields a pipe that becomes readable on every signal, so nothing has to poll."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        former = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        handlers = {
            number: signal.signal(number, self._on_signal)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
        }
        try:
            yield reader
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(former)
            os.close(reader)
            os.close(writer)

    def _on_signal(self, number: int, _frame: object) -> None:
        if number != signal.SIGCHLD:
            self._stop_requested = True

    def _stop_all(self) -> None:
        """Those that use the index and the broker first, then these two."""
        last = [child for child in self._children if child.spec.name in {"broker", "index"}]
        first = [child for child in self._children if child not in last]
        _stop(first, _STOP_SECONDS)
        _stop(last, _STOP_LAST_SECONDS)
        for handle in (self._pipe, self._pipe_end, self._ready_pipe, self._ready_end):
            os.close(handle)


def _stop(children: list[Child], seconds: float) -> None:
    for child in children:
        child.signal(signal.SIGTERM)
    until = time.monotonic() + seconds
    while time.monotonic() < until and not all(child.has_ended() for child in children):
        time.sleep(0.05)
    for child in children:
        child.kill()


def readable_line(line: str) -> str:
    """A line of a child's structured log, for a terminal."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    return f"{entry.get('event', '')} {entry.get('error', '')}".strip()
