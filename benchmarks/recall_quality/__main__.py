"""What retrieval scores on labelled question sets, and what each part of it adds.

    python -m benchmarks.recall_quality BENCH [--sets locomo realmem] [--conversations NAME …]
        [--variants NAME …] [--runs DIR] [--keep HOME] [--vectors FILE] [--kinds]
        [--abstention QUESTIONS] [--synthesis QUESTIONS]

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
from benchmarks.recall_quality.abstention import print_abstention
from benchmarks.recall_quality.cached_vectors import CachedModels
from benchmarks.recall_quality.data import BenchSet, read_set
from benchmarks.recall_quality.loading import Loaded, load
from benchmarks.recall_quality.running import run_variant
from benchmarks.recall_quality.scoring import by_kind, score
from benchmarks.recall_quality.synthesis import print_synthesis


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, help="folder that holds the sets")
    parser.add_argument("--sets", nargs="+", default=["locomo", "realmem"])
    parser.add_argument("--runs", type=Path, help="folder to write run files to")
    parser.add_argument("--keep", type=Path, help="data folder to use and keep, for a second run")
    parser.add_argument(
        "--conversations", nargs="+", help="only these histories (`conv`) of the sets"
    )
    names = [variant.name for variant in VARIANTS]
    parser.add_argument("--variants", nargs="+", choices=names, default=names)
    parser.add_argument(
        "--abstention",
        type=int,
        metavar="QUESTIONS",
        help="measure instead, on so many questions a set, what is answered and what is not",
    )
    parser.add_argument(
        "--vectors", type=Path, help="file that keeps vectors, so that a next run need not embed"
    )
    parser.add_argument("--kinds", action="store_true", help="R@10 for each kind of question too")
    parser.add_argument(
        "--synthesis",
        type=int,
        metavar="QUESTIONS",
        help="measure instead, on so many questions a set, what the answers hold",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="backread-bench-") as scratch:
        home = arguments.keep or Path(scratch)
        kernel = Kernel(Settings(home=home))
        upgrade(kernel.store)
        if arguments.vectors:
            kernel.models = CachedModels(kernel, arguments.vectors)
        for name in arguments.sets:
            data = read_set(arguments.bench / name, arguments.conversations)
            loaded = _load(kernel, name, data)
            if arguments.abstention:
                print_abstention(kernel, data, loaded, arguments.abstention)
            elif arguments.synthesis:
                print_synthesis(kernel, data, loaded, arguments.synthesis)
            else:
                _print_quality(kernel, name, data, loaded, arguments)
        kernel.close()


def _load(kernel: Kernel, name: str, data: BenchSet) -> Loaded:
    started = time.perf_counter()
    loaded = load(kernel, data)
    took = time.perf_counter() - started
    print(f"\n{name}: {len(data.documents)} turns, {loaded.passages} passages, {took:.0f} s")
    print(f"embedding: {kernel.embedder.signature}")
    return loaded


def _print_quality(
    kernel: Kernel, name: str, data: BenchSet, loaded: Loaded, arguments: argparse.Namespace
) -> None:
    runs: Path | None = arguments.runs
    print(f"{'variant':30s} turn R@5 R@10  MRR  all@10 | session R@5 R@10 MRR all@10 | ms p50 p95")
    for variant in VARIANTS:
        if variant.name not in arguments.variants:
            continue
        answers = run_variant(kernel, data, loaded, variant)
        print(f"{variant.name:30s} {score(data.questions, answers)}", flush=True)
        if arguments.kinds:
            print("\n".join(by_kind(data.questions, answers)), flush=True)
        if runs is not None:
            runs.mkdir(parents=True, exist_ok=True)
            answers.write(runs, name, variant.name)


if __name__ == "__main__":
    main()
