"""What retrieval scores on labelled question sets, and what each part of it adds.

    python -m benchmarks.recall_quality BENCH [--sets locomo realmem] [--runs DIR] [--keep HOME]

BENCH is a folder of sets; each has `docs.jsonl.gz` (corpus, conv, session, msg, role, ts, text)
and `queries.jsonl.gz` (conv, qid, text, gold_msgs, gold_sessions, …). The data is not part of this
repository. Every `conv` becomes an account, every `session` a conversation, stored, cut into
passages, indexed and searched by the product itself with the settings that it ships with
(BACKREAD_EMBEDDING_MODEL picks another model). Run files for the sets' own scorer go to --runs.
"""

import argparse
import tempfile
import time
from pathlib import Path

from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.migrate import upgrade
from benchmarks.recall_quality.ablation import VARIANTS
from benchmarks.recall_quality.data import read_set
from benchmarks.recall_quality.loading import load
from benchmarks.recall_quality.running import run_variant
from benchmarks.recall_quality.scoring import score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, help="folder that holds the sets")
    parser.add_argument("--sets", nargs="+", default=["locomo", "realmem"])
    parser.add_argument("--runs", type=Path, help="folder to write run files to")
    parser.add_argument("--keep", type=Path, help="data folder to use and keep, for a second run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="backread-bench-") as scratch:
        home = arguments.keep or Path(scratch)
        kernel = Kernel(Settings(home=home))
        upgrade(kernel.store)
        for name in arguments.sets:
            _one_set(kernel, arguments.bench / name, arguments.runs)
        kernel.close()


def _one_set(kernel: Kernel, folder: Path, runs: Path | None) -> None:
    data = read_set(folder)
    started = time.perf_counter()
    loaded = load(kernel, data)
    took = time.perf_counter() - started
    print(f"\n{folder.name}: {len(data.documents)} turns, {loaded.passages} passages, {took:.0f} s")
    print(f"embedding: {kernel.embedder.signature}")
    print(f"{'variant':28s} turn R@5  R@10   MRR   | session R@5  R@10  MRR   | ms p50   p95")
    for variant in VARIANTS:
        answers = run_variant(kernel, data, loaded, variant)
        print(f"{variant.name:28s} {score(data.questions, answers)}", flush=True)
        if runs is not None:
            runs.mkdir(parents=True, exist_ok=True)
            answers.write(runs, folder.name, variant.name)


if __name__ == "__main__":
    main()
