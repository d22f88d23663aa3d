"""Imports thousands of damaged files of each container type and checks how each one ends.

    .venv/bin/python -m tests.nightly.mutations.run --count 2000
    .venv/bin/python -m tests.nightly.mutations.run --replay zip:SEED:NUMBER

Every file must end within 60 seconds as readable, in whole or in part, or as failed with a known
code and a reason in words. Nothing unexpected may be raised or logged, nothing may stay in the
uploads folder, `verify` must find everything whole, and no process may grow beyond 512 MB. The
seed is printed; kind, seed and number make the same file again. `--replay` imports that one file
here, keeps it beside, and prints its outcome. Exits with 0 when all of it held.
"""

import argparse
import json
import logging
import queue
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.nightly.mutations.child import damaged_file, importer, write_original
from tests.nightly.mutations.originals import ENDINGS, KINDS

_ROOT = Path(__file__).parents[3]
_LONGEST_SECONDS = 60.0
_START_SECONDS = 600.0  # of a child, beside its first file; a busy machine takes its time
_MOST_MB = 512
_PER_CHILD = 250  # a crash, or memory that grows, belongs to few files


@dataclass
class Tally:
    """What became of one container type's files."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    peak_mb: int = 0
    problems: list[str] = field(default_factory=list)

    def take(self, where: str, result: dict[str, Any]) -> None:
        self.outcomes[result["outcome"]] += 1
        self.seconds.append(result["seconds"])
        self.peak_mb = max(self.peak_mb, result["peak_mb"])
        problems = list(result["problems"])
        if result["seconds"] > _LONGEST_SECONDS:
            problems.append(f"took {result['seconds']:.0f} s")
        if result["peak_mb"] > _MOST_MB:
            problems.append(f"the process grew to {result['peak_mb']} MB")
        for problem in problems:
            self.note(f"{where}: {problem}")

    def note(self, problem: str) -> None:
        """Tells it at once: the run may take hours."""
        say(f"  {problem}")
        self.problems.append(problem)

    def line(self, kind: str) -> str:
        ends = ", ".join(f"{count:,} {name}" for name, count in self.outcomes.most_common())
        times = f"median {statistics.median(self.seconds):.3f} s, longest {max(self.seconds):.2f} s"
        count = len(self.seconds)
        return (
            f"{kind}: {count:,} files: {ends}; {times}; peak {self.peak_mb} MB; "
            f"{len(self.problems)} problems"
        )


def run_kind(kind: str, seed: int, first: int, count: int) -> Tally:
    tally = Tally()
    number, end = first, first + count
    while number < end:
        number = _run_child(kind, seed, number, min(_PER_CHILD, end - number), tally)
    return tally


def _run_child(kind: str, seed: int, first: int, count: int, tally: Tally) -> int:
    """Returns the number to go on with: behind a file that the child died or hung on, too."""
    command = [sys.executable, "-m", "tests.nightly.mutations.child"]
    command += [kind, str(seed), str(first), str(count)]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as child:
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_pass_on, args=(child, lines), daemon=True).start()
        number = first
        patience = _START_SECONDS
        try:
            while number < first + count:
                line = lines.get(timeout=patience + _LONGEST_SECONDS)
                if not line:
                    break
                tally.take(f"{kind}:{seed}:{number}", json.loads(line))
                number += 1
                patience = 0.0
        except queue.Empty:
            tally.note(f"{kind}:{seed}:{number}: did not end in time")
            child.kill()
            return number + 1
    if number < first + count:
        tally.note(f"{kind}:{seed}:{number}: the process died ({child.returncode})")
        return number + 1
    return number


def _pass_on(child: "subprocess.Popen[str]", lines: "queue.Queue[str]") -> None:
    assert child.stdout is not None
    for line in child.stdout:
        lines.put(line)
    lines.put("")


def replay(kind: str, seed: int, number: int) -> bool:
    content = damaged_file(kind, seed, number)
    path = Path.cwd() / f"replayed-{kind}-{number}{ENDINGS[kind]}"
    write_original(content, path)
    with importer() as (made, _):
        result = made.run(path)
        result["problems"] += made.verify()
    say(f"{path}: {json.dumps(result)}")
    return not result["problems"]


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="files of each container type")
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--kinds", default=",".join(KINDS), help="container types, with commas")
    parser.add_argument("--replay", metavar="KIND:SEED:NUMBER", help="import one file again")
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if chosen.replay:
        kind, seed, number = chosen.replay.split(":")
        raise SystemExit(0 if replay(kind, int(seed), int(number)) else 1)
    say(f"seed {chosen.seed}")
    started = time.monotonic()
    problems: list[str] = []
    for kind in chosen.kinds.split(","):
        tally = run_kind(kind, chosen.seed, chosen.first, chosen.count)
        say(tally.line(kind))
        problems += tally.problems
    say(f"{time.monotonic() - started:.0f} s; {len(problems)} problems")
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
