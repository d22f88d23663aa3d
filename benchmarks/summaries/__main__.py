"""How good extractive summaries are, against what a person wrote and against doing nothing clever.

    python -m benchmarks.summaries
    python -m benchmarks.summaries --vectors        # likeness by the embedding model as well

All ways get the same budget: as many tokens as the person's summary has. ROUGE is the F value of
`rouge-score`, over words that any script has. Redundancy is the mean likeness of a sentence to the
one most like it (0 = all different). Citation precision: the share of citations whose message
holds the sentence by the same check that keeps a language model's sentences.
"""

import argparse
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rouge_score import rouge_scorer

from backread.llm.packaged_minilm import PackagedMiniLM
from backread.store.fulltext import words
from backread.text.extracting import choose_sentences, weigh
from backread.tokens import estimate_tokens
from benchmarks.summaries.data import SummarisedChat, read_chats
from recall.sentences import sentences
from recall.summarising.extractive import pick
from recall.summarising.support import Evidence, check

_KINDS = ("rouge1", "rouge2", "rougeL")
_SEEDS = 20


@dataclass(frozen=True, slots=True)
class Chosen:
    """A sentence and the turn that it cites."""

    text: str
    turn: str


Way = Callable[[SummarisedChat, int], list[Chosen]]


class _AnyScript:
    """`rouge-score` sees Latin letters and digits only; this sees the words that search sees."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


def _sentences(chat: SummarisedChat) -> list[Chosen]:
    return [Chosen(text, turn.text) for turn in chat.turns for text in sentences(turn.text)]


def _fill(candidates: Sequence[Chosen], budget: int) -> list[Chosen]:
    chosen, left = [], budget
    for each in candidates:
        cost = estimate_tokens(each.text)
        if cost <= left:
            chosen.append(each)
            left -= cost
    return chosen


def lead(chat: SummarisedChat, budget: int) -> list[Chosen]:
    return _fill(_sentences(chat), budget)


def tail(chat: SummarisedChat, budget: int) -> list[Chosen]:
    return _fill(_sentences(chat)[::-1], budget)[::-1]


def at_random(seed: int) -> Way:
    def way(chat: SummarisedChat, budget: int) -> list[Chosen]:
        candidates = _sentences(chat)
        random.Random(f"{seed}{chat.title}").shuffle(candidates)
        return _fill(candidates, budget)

    return way


def extractive(chat: SummarisedChat, budget: int) -> list[Chosen]:
    # The product counts a citation with each sentence; here all ways spend the budget on words.
    said = _sentences(chat)
    users = {turn.text for turn in chat.turns if turn.role == "user"}
    chosen = choose_sentences(
        [each.text for each in said],
        budget_tokens=budget,
        weights=[1.1 if each.turn in users else 1.0 for each in said],
        overhead_tokens=0,
    )
    return [said[n] for n in chosen]


def with_vectors(model: PackagedMiniLM) -> Way:
    def way(chat: SummarisedChat, budget: int) -> list[Chosen]:
        said = _sentences(chat)
        users = {turn.text for turn in chat.turns if turn.role == "user"}
        chosen = choose_sentences(
            [each.text for each in said],
            budget_tokens=budget,
            vectors=model.embed_passages([each.text for each in said]),
            weights=[1.1 if each.turn in users else 1.0 for each in said],
            overhead_tokens=0,
        )
        return [said[n] for n in chosen]

    return way


def rouge(chosen: Sequence[Chosen], chat: SummarisedChat) -> list[float]:
    scorer = rouge_scorer.RougeScorer(list(_KINDS), tokenizer=_AnyScript())
    scores = scorer.score(" ".join(chat.reference), " ".join(each.text for each in chosen))
    return [float(scores[kind].fmeasure) for kind in _KINDS]


def redundancy(chosen: Sequence[Chosen]) -> float:
    if len(chosen) < 2:
        return 0.0
    alike = weigh([each.text for each in chosen]).alike.copy()
    for n in range(len(chosen)):
        alike[n, n] = 0.0
    return float(alike.max(axis=1).mean())


def precision(chosen: Sequence[Chosen]) -> float:
    held = [check(each.text, [Evidence(each.turn)]).is_supported for each in chosen]
    return sum(held) / len(held) if held else 1.0


def measure(ways: Sequence[Way], chats: Sequence[SummarisedChat]) -> list[float]:
    """Means over chats and ways: ROUGE-1, -2, -L, redundancy, citation precision."""
    rows = []
    for way in ways:
        for chat in chats:
            budget = sum(estimate_tokens(each) for each in chat.reference)
            chosen = way(chat, budget)
            rows.append([*rouge(chosen, chat), redundancy(chosen), precision(chosen)])
    return [statistics.fmean(column) for column in zip(*rows, strict=True)]


def product_precision(chats: Sequence[SummarisedChat]) -> float:
    """Of what `get_conversation_summary` would hand out."""
    picked = [
        Chosen(each.text, each.message.text) for chat in chats for each in pick(chat.turns, 300)
    ]
    return precision(picked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--vectors", action="store_true")
    options = parser.parse_args()
    chats = read_chats()
    ways: dict[str, list[Way]] = {
        "LexRank + MMR (Backread)": [extractive],
        "lead-N": [lead],
        "last N": [tail],
        f"random, mean of {_SEEDS}": [at_random(seed) for seed in range(_SEEDS)],
    }
    if options.vectors:
        model = PackagedMiniLM(Path("~/.backread/models").expanduser(), threads=1)
        ways["LexRank + MMR with vectors"] = [with_vectors(model)]
    print(f"{len(chats)} chats")
    print(f"{'way':28} ROUGE-1 ROUGE-2 ROUGE-L redundancy citations")
    for name, found in ways.items():
        row = measure(found, chats)
        print(f"{name:28} {row[0]:7.3f} {row[1]:7.3f} {row[2]:7.3f} {row[3]:10.3f} {row[4]:9.3f}")
    print(f"citation precision of the product's own summaries: {product_precision(chats):.3f}")


if __name__ == "__main__":
    main()
