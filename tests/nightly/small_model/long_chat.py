"""A conversation of a million tokens through the whole of summarising, with a stand-in for the
model: how many requests, how much memory, and how few once it has grown.

    python -m tests.nightly.small_model.long_chat --tokens 1000000
"""

# ruff: noqa: T201 - a command that people read

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

from backread.follow_ups import conversations_changed
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.migrate import upgrade
from backread.store.models import StoredSummary
from recall.summarising import making, planning
from tests.conftest import new_principal
from tests.ingest.exports import claude, import_files, write
from tests.language_model_server import language_model_server
from tests.recall.summarising.models import is_merge, sensible

_TOKENS_A_WEEK = 110


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    options = parser.parse_args()
    weeks = options.tokens // _TOKENS_A_WEEK
    with language_model_server() as server, tempfile.TemporaryDirectory() as home:
        server.answer = sensible
        settings = Settings(
            home=Path(home),
            embedding_model="hashing",
            llm_model="stand-in",
            llm_base_url=server.base_url,
            llm_budget_day_tokens=0,
        )
        kernel = Kernel(settings)
        upgrade(kernel.store)
        principal = new_principal(kernel.store, "ada@example.org")
        file = Path(home) / "c.json"
        import_files(kernel, principal, write(file, [claude("c", turns(weeks))]))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        status = planning.summary_status(kernel, principal)
        assert status is not None
        assert status.offer is not None
        planning.accept_estimate(kernel, principal, status.offer.until)
        started = time.monotonic()
        run_pending(kernel, names=[making.SUMMARISE])
        seconds = time.monotonic() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        merges = sum(is_merge(each) for each in server.asked)
        print(f"estimate: {status.offer.tokens_in:,} tokens in, {status.offer.tokens_out:,} out")
        print(f"{server.calls} requests, {merges} of them merges, {seconds:.0f} s")
        print(f"peak memory {before} MB after the import, {peak} MB after the summary")
        calls = server.calls
        more = [*turns(weeks), "We sold the boat to Marit on 3 May."]
        import_files(kernel, principal, write(file, [claude("c", more)]))
        with kernel.store.write() as session:
            conversations_changed(kernel, session, principal.account_id)
        planned = planning.summary_status(kernel, principal)
        if planned is not None and planned.offer is not None:  # so large that it is asked again
            planning.accept_estimate(kernel, principal, planned.offer.until)
        run_pending(kernel, names=[making.SUMMARISE])
        planned = planning.summary_status(kernel, principal)
        if planned is not None and planned.offer is not None:
            planning.accept_estimate(kernel, principal, planned.offer.until)
            run_pending(kernel, names=[making.SUMMARISE])
        print(f"after it grew by one message: {server.calls - calls} further requests")
        with kernel.store.read() as session:
            rows = list(session.query(StoredSummary))
        kernel.close()
    is_right = len(rows) == 1 and rows[0].state == making.MADE
    print("made" if is_right else "NOT MADE")
    return not is_right


def turns(weeks: int) -> list[str]:
    return [
        f"In week {n} the boat needs coat {n} of varnish on the hull. The harbour master wants the "
        f"papers for mooring {n} before the tide table changes again. "
        + "Nobody has seen the old anchor since the storm in the outer bay, and the rope is worn. "
        * 3
        for n in range(weeks)
    ]


if __name__ == "__main__":
    sys.exit(main())
