"""The load: requests come at their time, however long the answers before them take."""

import asyncio
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from api.oauth.resources import RECALL_PATH, SSE_PATH
from tests.nightly.mixed_load.asking import ERAS, STREAM, Question, envelope, question
from tests.nightly.mixed_load.mismatches import Mismatch, mismatch
from tests.nightly.mixed_load.server import Caller
from tests.nightly.mixed_load.wire import Wire

_CONNECTIONS = 64
_PATIENCE_SECONDS = 60.0  # for what is still unanswered at the end


@dataclass
class Tally:
    """What came of it. `waits` are seconds from the time that a request was due, by era."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def answered(self, era: str, wait: float) -> None:
        self.waits.setdefault(era, []).append(wait)

    @property
    def answers(self) -> int:
        return sum(len(waits) for waits in self.waits.values())

    def figures(self) -> list[str]:
        rate = self.answers / self.seconds if self.seconds else 0.0
        lines = [f"{self.answers} answers in {self.seconds:.0f} s: {rate:.0f} a second"]
        for era, waits in sorted(self.waits.items()):
            cuts = statistics.quantiles(waits, n=100) if len(waits) > 1 else waits * 99
            lines.append(
                f"{era:10} {len(waits):7} answers, p50 {cuts[49] * 1000:.0f} ms, "
                f"p99 {cuts[98] * 1000:.0f} ms"
            )
        return lines


class Stream:
    """An open HTTP+SSE stream of one caller, and what it still waits for."""

    def __init__(self, caller: Caller, port: int, tally: Tally) -> None:
        self.caller = caller
        self.address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.waiting: dict[str, tuple[Question, float]] = {}
        self._port = port
        self._tally = tally

    async def read(self) -> None:
        async with Wire(self._port) as wire:
            async for name, data in wire.events(SSE_PATH, envelope(self.caller)):
                if name == "endpoint":
                    self.address.set_result(data)
                else:
                    self._take(data.encode())

    def _take(self, data: bytes) -> None:
        asked = next((each for each in self.waiting if f'"{each}"'.encode() in data), None)
        if asked is None:
            self._tally.problems["a stream got an answer that it did not ask for"] += 1
            return
        about, due = self.waiting.pop(asked)
        self._tally.answered(STREAM, time.monotonic() - due)
        problem = about.problem(data)
        if problem:
            self._tally.problems[problem] += 1


class Load:
    """Asks the server at `port` as `callers`; `streams` of them hold a stream open meanwhile."""

    def __init__(self, port: int, callers: Sequence[Caller], streams: int, seed: int) -> None:
        self._port = port
        self._callers = callers
        self._draw = random.Random(seed)
        self._most_streams = streams
        self._streams: list[Stream] = []
        self.tally = Tally()

    async def run(self, *, rate: float, seconds: float) -> Tally:
        due_requests: asyncio.Queue[tuple[float, Question, Stream | None]] = asyncio.Queue()
        async with asyncio.TaskGroup() as group:
            readers = []
            for caller in self._callers[: self._most_streams]:
                stream = Stream(caller, self._port, self.tally)
                readers.append(group.create_task(stream.read()))
                await stream.address
                self._streams.append(stream)
            askers = [group.create_task(self._ask(due_requests)) for _ in range(_CONNECTIONS)]
            began = time.monotonic()
            for number in range(int(rate * seconds)):
                due = began + number / rate
                pause = due - time.monotonic()
                if pause > 0:
                    await asyncio.sleep(pause)
                due_requests.put_nowait((due, *self._next(number)))
            await self._settle(due_requests)
            self.tally.seconds = time.monotonic() - began
            for task in (*askers, *readers):
                task.cancel()
        return self.tally

    def _next(self, number: int) -> tuple[Question, Stream | None]:
        era = self._draw.choices(list(ERAS), weights=list(ERAS.values()))[0]
        if era == STREAM:
            stream = self._draw.choice(self._streams)
            return question(self._draw, era, stream.caller, number), stream
        return question(self._draw, era, self._draw.choice(self._callers), number), None

    async def _ask(self, due: "asyncio.Queue[tuple[float, Question, Stream | None]]") -> None:
        async with Wire(self._port) as wire:
            while True:
                at, about, stream = await due.get()
                try:
                    await self._one(wire, at, about, stream)
                except (OSError, asyncio.IncompleteReadError) as error:
                    self.tally.problems[f"no answer: {type(error).__name__}"] += 1
                finally:
                    due.task_done()

    async def _one(self, wire: Wire, at: float, about: Question, stream: Stream | None) -> None:
        if stream is not None:
            stream.waiting[about.id] = about, at
        path = RECALL_PATH if stream is None else stream.address.result()
        status, answer = await wire.ask(path, about.headers, about.body)
        self.tally.statuses[status] += 1
        if status != (200 if stream is None else 202):
            self.tally.problems[f"status {status}"] += 1
        elif stream is None:
            self.tally.answered(about.era, time.monotonic() - at)
            problem = about.problem(answer)
            if problem:
                self.tally.problems[problem] += 1

    async def _settle(self, due: "asyncio.Queue[tuple[float, Question, Stream | None]]") -> None:
        until = time.monotonic() + _PATIENCE_SECONDS
        while due._unfinished_tasks or any(stream.waiting for stream in self._streams):  # type: ignore[attr-defined]
            if time.monotonic() > until:
                left = due.qsize() + sum(len(stream.waiting) for stream in self._streams)
                self.tally.problems["never answered"] += left
                return
            await asyncio.sleep(0.05)


async def send_mismatches(
    port: int, callers: Sequence[Caller], count: int, seed: int
) -> tuple[Counter[str], Counter[str]]:
    """How many of each kind were sent, and what was wrong with the answers."""
    draw = random.Random(seed)
    kinds: Counter[str] = Counter()
    problems: Counter[str] = Counter()

    async def send(each: Mismatch, wire: Wire) -> None:
        kinds[each.kind] += 1
        problem = each.problem(*await wire.ask(RECALL_PATH, each.headers, each.body))
        if problem:
            problems[problem] += 1

    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(Wire(port)) for _ in range(8)]
        for first in range(0, count, len(wires)):
            some = range(first, min(count, first + len(wires)))
            await asyncio.gather(
                *(
                    send(mismatch(draw, draw.choice(callers), number), wire)
                    for number, wire in zip(some, wires, strict=False)
                )
            )
    return kinds, problems
