"""Whether recall answers what a history holds and says "not found" to what it does not.

Every question is put to the history that it was made for, and to another person's, which cannot
hold the answer though it may hold the words.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime

from backread.domain import Principal
from backread.kernel import Kernel
from benchmarks.recall_quality.data import BenchSet
from benchmarks.recall_quality.loading import Loaded
from recall import evidence
from recall.evidence import Evidence, related, weigh
from recall.found import Found
from recall.query import understand
from recall.retrieval import retrieve

_PASSAGES = 24
_PER_CONVERSATION = 5
_COVERAGES = (0.35, 0.45, 0.55, 0.65, 0.75)
_SIMILARITIES = (0.4, 0.5, 0.6)


def print_abstention(kernel: Kernel, data: BenchSet, loaded: Loaded, most: int) -> None:
    """For several thresholds: the share of questions answered from the right history and from a
    wrong one. The product's own thresholds come first."""
    step = max(1, len(data.questions) // most)
    asked = data.questions[::step]
    histories = list(loaded.principals)
    right: list[Evidence] = []
    wrong: list[Evidence] = []
    gold, foreign = _Kept(), _Kept()
    for question in asked:
        other = histories[(histories.index(question.conv) + 1) % len(histories)]
        at = question.asked_at or datetime.now(UTC)
        found = _ask(kernel, loaded.principals[question.conv], question.text, at)
        right.append(weigh(found))
        gold.count(
            found, {each for each, msg in loaded.msg_of.items() if msg in question.gold_msgs}
        )
        found = _ask(kernel, loaded.principals[other], question.text, at)
        wrong.append(weigh(found))
        foreign.count(found, {each.message_id for each in found.passages})
    print(f"\n{len(asked)} questions, share answered:   right history   wrong history")
    _line("as shipped", _share(right), _share(wrong))
    for coverage in _COVERAGES:
        for similarity in _SIMILARITIES:
            name = f"coverage {coverage:.2f}, similarity {similarity:.1f}"
            shares = [_share(some, coverage, similarity) for some in (right, wrong)]
            _line(name, *shares)
    print(f"search lists {gold.kept} of {gold.found} gold passages found in the right history")
    print(f"         and {foreign.kept} of {foreign.found} passages found in a wrong one")


@dataclass(slots=True)
class _Kept:
    """Passages that were found, and those of them that a list of results still shows."""

    found: int = 0
    kept: int = 0

    def count(self, found: Found, message_ids: Set[str]) -> None:
        self.found += sum(each.message_id in message_ids for each in found.passages)
        self.kept += sum(each.message_id in message_ids for each in related(found).passages)


def _line(name: str, right: float, wrong: float) -> None:
    print(f"{name:32s} {right:12.3f} {wrong:15.3f}", flush=True)


def _ask(kernel: Kernel, principal: Principal, text: str, at: datetime) -> Found:
    question = understand(text, asked_at=at)
    return retrieve(
        kernel, principal, [question], limit=_PASSAGES, per_conversation=_PER_CONVERSATION
    )[0]


def _share(
    weighed: Sequence[Evidence], coverage: float | None = None, similarity: float | None = None
) -> float:
    if coverage is None or similarity is None:
        return sum(each.is_enough for each in weighed) / len(weighed)
    enough = (
        each.coverage >= coverage
        or (each.coverage >= evidence.SOME_COVERAGE and each.similarity >= similarity)
        for each in weighed
    )
    return sum(enough) / len(weighed)
