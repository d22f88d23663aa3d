"""How well Smart Memory sorts, and whether what was sorted stays, on invented memories.

    python -m benchmarks.categories.run
    python -m benchmarks.categories.run --model hashing --language all --seeds 5

`memories.tsv` holds 312 invented memories about 13 topics in six languages, labelled by topic.
Each figure is the mean over several orders in which they come. *Purity* is the share of memories
whose category has mostly memories of their topic; *NMI* is normalised mutual information with the
topics. k-means gets as many groups as Smart Memory made and the same vectors, mean taken off, and
the best of ten starts; random puts memories into groups of the same sizes. *Kept* is the share of
memories that are still with the same id when a tenth was added or taken away; for k-means it is
counted after its groups were matched to the former ones as well as can be.
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backread.llm.open import open_embedder
from backread.settings import Settings
from recall.categories.sorting import REST, Item, plan
from recall.grouping.clustering import Vectors, centred, unit

_STARTS = 10
MEMORIES = Path(__file__).parent / "memories.tsv"
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Memory:
    topic: str
    language: str
    text: str


@dataclass
class Sorting:
    """A bucket that is sorted again and again, as `recall.categories.updating` does it."""

    texts: Sequence[str]
    rows: Vectors
    where: dict[int, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    grouped: int = 0
    made: int = 0

    def sort(self, places: Sequence[int]) -> None:
        planned = plan(
            [Item(self.texts[place], self.where.get(place)) for place in places],
            self.rows[list(places)],
            self.kinds,
            grouped_count=self.grouped,
        )
        where: dict[int, str] = {}
        kinds: dict[str, str] = {}
        for category in planned.categories:
            self.made += category.id is None
            key = category.id or f"c{self.made}"
            kinds[key] = category.kind
            where.update({places[member]: key for member in category.members})
        self.where, self.kinds = where, kinds
        if planned.is_anew:
            self.grouped = len(places)

    def labels(self, places: Sequence[int]) -> list[str]:
        return [self.where[place] for place in places]

    @property
    def rest(self) -> set[int]:
        return {place for place, key in self.where.items() if self.kinds[key] == REST}


def read_memories(language: str) -> list[Memory]:
    rows = [line.split("\t") for line in MEMORIES.read_text(encoding="utf-8").splitlines()]
    found = [Memory(*row) for row in rows]
    return [each for each in found if language in {"all", each.language}]


def purity(topics: Sequence[str], labels: Sequence[object]) -> float:
    most = 0
    for label in set(labels):
        own = [topic for topic, each in zip(topics, labels, strict=True) if each == label]
        most += Counter(own).most_common(1)[0][1]
    return most / len(topics)


def nmi(topics: Sequence[str], labels: Sequence[object]) -> float:
    count = len(topics)
    left, right = Counter(topics), Counter(labels)
    both = Counter(zip(topics, labels, strict=True))
    shared = sum(
        n / count * math.log(n * count / (left[topic] * right[label]))
        for (topic, label), n in both.items()
    )
    total = _entropy(left) + _entropy(right)
    return 2 * shared / total if total else 1.0


def _entropy(counted: Counter[object] | Counter[str]) -> float:
    total = sum(counted.values())
    return -sum(n / total * math.log(n / total) for n in counted.values())


def k_means(rows: Vectors, count: int, rng: np.random.Generator) -> list[int]:
    """The best of ten runs, by how near the memories are to their centres."""
    runs = [_lloyd(rows, count, rng) for _ in range(_STARTS)]
    return max(runs, key=lambda run: run[0])[1]


def _lloyd(rows: Vectors, count: int, rng: np.random.Generator) -> tuple[float, list[int]]:
    """Lloyd's algorithm on unit vectors, begun at random members."""
    centres = rows[rng.choice(len(rows), count, replace=False)]
    labels = np.zeros(len(rows), dtype=np.int64)
    for _ in range(50):
        labels = (rows @ centres.T).argmax(axis=1)
        centres = unit(
            np.stack(
                [
                    rows[labels == n].mean(axis=0)
                    if (labels == n).any()
                    else rows[rng.integers(len(rows))]
                    for n in range(count)
                ]
            )
        )
    near = float((rows @ centres.T).max(axis=1).sum())
    return near, [int(label) for label in labels]


def kept(before: dict[int, object], after: dict[int, object], *, match: bool) -> float:
    """The share of memories in both that have the same label; with `match` after each new label
    was given to the former one that it shares most with."""
    both = before.keys() & after.keys()
    if not match:
        return sum(before[place] == after[place] for place in both) / len(both)
    overlap = Counter((after[place], before[place]) for place in both)
    used: set[object] = set()
    same = 0
    names: dict[object, object] = {}
    for (new, old), count in overlap.most_common():
        if new not in names and old not in used:
            names[new] = old
            used.add(old)
            same += count
    return same / len(both)


def measure(memories: Sequence[Memory], rows: Vectors, seeds: int) -> None:
    figures: dict[str, list[tuple[float, ...]]] = {"Smart Memory": [], "k-means": [], "random": []}
    more: list[tuple[float, ...]] = []
    topics = [each.topic for each in memories]
    texts = [each.text for each in memories]
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        order = [int(place) for place in rng.permutation(len(memories))]
        most = order[: len(order) * 9 // 10]
        ours = Sorting(texts, rows)
        ours.sort(most)
        groups = len(ours.kinds)
        before = dict(ours.where)
        own = [topics[place] for place in most]
        placed = [place for place in most if place not in ours.rest]
        base = (purity(own, ours.labels(most)), nmi(own, ours.labels(most)))
        ours.sort(order)
        added = kept(dict(before), dict(ours.where), match=False)
        everything = [topics[place] for place in order]
        after = (purity(everything, ours.labels(order)), nmi(everything, ours.labels(order)))
        whole = Sorting(texts, rows)
        whole.sort(order)
        full = dict(whole.where)
        whole.sort(most)
        taken = kept(dict(full), dict(whole.where), match=False)
        figures["Smart Memory"].append((*base, added, taken))
        pure = purity([topics[p] for p in placed], [before[p] for p in placed])
        more.append((groups, 1 - len(placed) / len(most), pure, *after))
        figures["k-means"].append(_k_means(rows, most, order, topics, groups, rng))
        sizes = list(before.values())
        shuffled = [sizes[int(n)] for n in rng.permutation(len(sizes))]
        figures["random"].append((purity(own, shuffled), nmi(own, shuffled), math.nan, math.nan))
    _print(figures, more)


def _k_means(
    rows: Vectors,
    most: Sequence[int],
    order: Sequence[int],
    topics: Sequence[str],
    groups: int,
    rng: np.random.Generator,
) -> tuple[float, ...]:
    def run(places: Sequence[int]) -> dict[int, object]:
        return dict(zip(places, k_means(centred(rows[list(places)]), groups, rng), strict=True))

    first, second, third = run(most), run(order), run(most)
    labels = [first[place] for place in most]
    own = [topics[place] for place in most]
    return (
        purity(own, labels),
        nmi(own, labels),
        kept(first, second, match=True),
        kept(second, third, match=True),
    )


def _print(figures: dict[str, list[tuple[float, ...]]], more: list[tuple[float, ...]]) -> None:
    print("| | purity | NMI | kept, a tenth added | kept, a tenth taken away |")
    print("|---|---|---|---|---|")
    for name, rows in figures.items():
        means = np.mean(np.asarray(rows), axis=0)
        print(f"| {name} | " + " | ".join("" if m != m else f"{m:.2f}" for m in means) + " |")
    groups, rest, pure, after_purity, after_nmi = np.mean(np.asarray(more), axis=0)
    print(
        f"\n{groups:.1f} categories, {rest:.0%} of the memories in the rest, purity without it "
        f"{pure:.2f}; after a tenth was added purity {after_purity:.2f}, NMI {after_nmi:.2f}."
    )


def timed(what: str, work: Callable[[], object]) -> None:
    began = time.process_time()
    work()
    print(f"{what}: {time.process_time() - began:.2f} s of processor time")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--model", default="minilm", help="as BACKREAD_EMBEDDING_MODEL")
    parser.add_argument("--language", default="en", help="an ISO code, or all")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    memories = read_memories(options.language)
    embedder = open_embedder(Settings(embedding_model=options.model))
    rows = embedder.embed_passages([each.text for each in memories])
    topics = len({each.topic for each in memories})
    print(f"{len(memories)} memories, {topics} topics, {options.model}, {options.seeds} orders\n")
    measure(memories, rows, options.seeds)
    large = np.random.default_rng(0).normal(size=(10_000, rows.shape[1])).astype(np.float32)
    many = [f"{memories[n % len(memories)].text} {n}" for n in range(len(large))]
    print()
    timed("grouping 2,000 memories anew", lambda: Sorting(many, unit(large)).sort(range(2_000)))
    timed("grouping 10,000 memories anew", lambda: Sorting(many, unit(large)).sort(range(10_000)))


if __name__ == "__main__":
    main()
