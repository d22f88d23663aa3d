"""Whether what was found speaks of what was asked at all.

Retrieval always finds something; an answer must be allowed to be "not found". Two signs are
looked at: how much of the question's own words the best passages hold, rare words counting more,
and how close the nearest passage is in meaning, measured against the rest of what was found.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from recall.query import Question
from recall.search import Found
from recall.sentences import stem, stems

# Chosen on questions put to a history that holds their answer (19 of 20 pass) and to one that
# does not (6 of 7 are turned away).
ENOUGH_COVERAGE = 0.55
SOME_COVERAGE = 0.27
CLOSE_IN_MEANING = 0.5

_LOOKED_AT = 10


@dataclass(frozen=True, slots=True)
class Evidence:
    """`coverage` 0–1: the share of the question's words, weighted by rarity, that the best passage
    with its neighbours holds. `similarity`: the best cosine. `missing`: words found nowhere."""

    coverage: float
    similarity: float
    missing: tuple[str, ...]

    @property
    def is_enough(self) -> bool:
        if self.coverage >= ENOUGH_COVERAGE:
            return True
        return self.coverage >= SOME_COVERAGE and self.similarity >= CLOSE_IN_MEANING


def weigh(found: Found) -> Evidence:
    """Looks at the first passages only: what stands far down is no evidence."""
    terms = question_stems(found.question)
    passages = [set(stems(f"{each.heading}\n{each.text}")) for each in found.passages]
    similarity = max(found.cosines.values(), default=0.0)
    if not terms or not passages:
        return Evidence(1.0 if passages and not terms else 0.0, similarity, terms)
    weight = {}
    for term in terms:
        frequency = sum(term in words for words in passages)
        weight[term] = math.log(1 + len(passages) / (frequency + 0.5))
    total = sum(weight.values())
    near = _with_neighbours(found, passages)
    coverage = max(
        sum(weight[term] for term in terms if term in words) / total for words in near[:_LOOKED_AT]
    )
    missing = tuple(term for term in terms if not any(term in words for words in passages))
    return Evidence(coverage, similarity, missing)


def question_stems(question: Question) -> tuple[str, ...]:
    """The stems of the words that name what is asked for, without repeats."""
    return tuple(dict.fromkeys(stem(word) for word in question.terms))


def _with_neighbours(found: Found, passages: Sequence[set[str]]) -> list[set[str]]:
    at = {
        (each.conversation_id, each.position): words
        for each, words in zip(found.passages, passages, strict=True)
    }
    joined = []
    for each, words in zip(found.passages, passages, strict=True):
        around = set(words)
        for position in (each.position - 1, each.position + 1):
            around |= at.get((each.conversation_id, position), set())
        joined.append(around)
    return joined
