"""Clients of every protocol revision at once, against two web processes on one address.

    .venv/bin/python -m tests.nightly.mixed_load.run [--rate 500] [--minutes 10]
        [--mismatches 5000] [--accounts 20] [--clients 20] [--processes 2] [--seed N]

Requests of the handshake revisions, of the stateless one and over HTTP+SSE come at a fixed rate,
whether or not the server keeps up; times count from when a request was due. Each account has a
word that only it knows. Afterwards requests whose headers contradict their bodies are sent. Ends
with 0 when nothing was answered with an error, nobody got a word or an answer of somebody else's,
everything was answered, and every contradiction was refused with 400 and -32020. The rate that was
really reached is printed; a machine that is too slow for the asked one is no failure by itself.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

from tests.nightly.mixed_load.load import Load, send_mismatches
from tests.nightly.mixed_load.server import settled_server

_STREAMS = 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=500, help="requests a second")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--mismatches", type=int, default=5_000)
    parser.add_argument("--accounts", type=int, default=20)
    parser.add_argument("--clients", type=int, default=20, help="of each account")
    parser.add_argument("--processes", type=int, default=2, help="web processes")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    say(f"seed {options.seed}")
    with (
        tempfile.TemporaryDirectory() as folder,
        settled_server(
            Path(folder) / "home", accounts=options.accounts, clients=options.clients
        ) as (server, callers),
    ):
        server.start(options.processes)
        port = server.settings.port
        load = Load(port, callers, _STREAMS, options.seed)
        tally = asyncio.run(load.run(rate=options.rate, seconds=options.minutes * 60))
        for line in tally.figures():
            say(line)
        kinds, contradictions = asyncio.run(
            send_mismatches(port, callers, options.mismatches, options.seed)
        )
        say(f"{kinds.total()} contradictions sent, {contradictions.total()} not refused as such")
    problems = tally.problems + contradictions
    for problem, count in problems.most_common(20):
        say(f"FAILED {count} times: {problem}")
    return 1 if problems else 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
