"""Whether what was found speaks of what was asked at all.

Retrieval always finds something; an answer must be allowed to be "not found". Two signs are
looked at: how much of the question's own words the best passages hold, rare words counting more,
and how close the nearest passage is in meaning.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from backread.store.fulltext import fold
from backread.store.repositories.retrieval import FoundPassage
from recall.found import Found
from recall.measures import measure_asked
from recall.query import Question
from recall.sentences import stem

# What these and other values give: `python -m benchmarks.recall_quality BENCH --abstention 60`.
ENOUGH_COVERAGE = 0.55
SOME_COVERAGE = 0.27
CLOSE_IN_MEANING = 0.5
# A message of several sentences says more than is asked for: only so many of its words count, and
# words alone prove little.
LONG_TERMS = 12
ENOUGH_COVERAGE_OF_LONG = 0.9
CLOSE_IN_MEANING_OF_LONG = 0.48
# Below this a passage without a word of the query has nothing to do with it.
RELATED_IN_MEANING = 0.35

_LOOKED_AT = 10
_COMPARED = 16  # passages that say how rare a word is


@dataclass(frozen=True, slots=True)
class Evidence:
    """`coverage` 0–1: the share of the question's words, weighted by rarity, that the best passage
    with its neighbours holds. `similarity`: the best cosine. `is_long`: the question has more words
    than are counted."""

    coverage: float
    similarity: float
    is_long: bool = False

    @property
    def is_enough(self) -> bool:
        enough, close = ENOUGH_COVERAGE, CLOSE_IN_MEANING
        if self.is_long:
            enough, close = ENOUGH_COVERAGE_OF_LONG, CLOSE_IN_MEANING_OF_LONG
        if self.coverage >= enough:
            return True
        return self.coverage >= SOME_COVERAGE and self.similarity >= close


def weigh(found: Found) -> Evidence:
    """Looks at the first passages only: what stands far down is no evidence."""
    terms = question_stems(found.question)
    similarity = max(found.cosines.values(), default=0.0)
    if not terms or not found.passages:
        return Evidence(1.0 if found.passages else 0.0, similarity)
    held = _held(found.passages[:_COMPARED], terms, found.question.language)
    weight = {}
    for term in terms:
        frequency = sum(term in each for each in held)
        weight[term] = math.log(1 + len(held) / (frequency + 0.5))
    total = sum(sorted(weight.values(), reverse=True)[:LONG_TERMS])
    near = _with_neighbours(found, held)[:_LOOKED_AT]
    coverage = max(sum(weight[term] for term in each) / total for each in near)
    if coverage < ENOUGH_COVERAGE and _is_measured(found, terms):
        coverage = 1.0
    return Evidence(min(1.0, coverage), similarity, len(terms) > LONG_TERMS)


def _is_measured(found: Found, terms: Sequence[str]) -> bool:
    """Whether a measure is asked for and one of the first passages, with the messages around it,
    speaks of all the rest of the question and holds such a measure."""
    measure = measure_asked(found.question.text)
    rest = set() if measure is None else set(terms) - measure.unsaid
    if measure is None or not rest:
        return False
    read = {place: each for place, each in found.around.items() if each is not None}
    for passage in found.passages[:_LOOKED_AT]:
        near = [passage] + [
            each
            for distance in (-2, -1, 1, 2)
            if (each := read.get((passage.conversation_id, passage.position + distance)))
        ]
        of_each = (held_by(each, tuple(terms), found.question.language) for each in near)
        held = frozenset[str]().union(*of_each)
        if rest <= held and measure.stands_in([each.text for each in near]):
            return True
    return False


def related(found: Found) -> Found:
    """Without the passages that were only the nearest of what there is: they have no word of the
    query, and are far from it in meaning."""
    terms = question_stems(found.question)
    if not terms or found.question.phrases:
        return found
    kept = [
        n
        for n, (passage, held) in enumerate(
            zip(found.passages, _held(found.passages, terms, found.question.language), strict=True)
        )
        if held or found.cosines.get(passage.id, 0.0) >= RELATED_IN_MEANING
    ]
    return Found(
        found.question,
        [found.passages[n] for n in kept],
        [found.scores[n] for n in kept],
        found.cosines,
    )


def question_stems(question: Question) -> tuple[str, ...]:
    """The stems of the words that name what is asked for, without repeats."""
    return tuple(dict.fromkeys(stem(word, question.language) for word in question.terms))


def _held(passages: Sequence[FoundPassage], terms: Sequence[str], language: str) -> list[set[str]]:
    """The terms that each passage holds, its heading with it."""
    return [set(held_by(each, tuple(terms), language)) for each in passages]


def held_by(passage: FoundPassage, terms: tuple[str, ...], language: str = "en") -> frozenset[str]:
    """The stems that a passage holds in its heading or its text. `language`: the question's."""
    in_heading = _held_in(passage.heading, terms, language)
    return in_heading | _held_in(passage.text, terms, language)


def terms_held(
    texts: Sequence[str], terms: Sequence[str], language: str = "en"
) -> list[frozenset[str]]:
    """Which of the stems each text holds."""
    return [_held_in(text, tuple(terms), language) for text in texts]


# The same passages are looked at for their order, for their titles and as evidence.
@lru_cache(maxsize=4096)
def _held_in(text: str, terms: tuple[str, ...], language: str) -> frozenset[str]:
    if not terms:
        return frozenset()
    alike = set(_alike(terms).findall(fold(text).lower()))
    return frozenset(terms).intersection(stem(word, language) for word in alike)


@lru_cache(maxsize=256)
def _alike(terms: tuple[str, ...]) -> re.Pattern[str]:
    """Words that begin as one of the stems does: endings change and beginnings do not, so only
    these have to be stemmed. In Arabic, where the article and some little words are written onto
    the beginning, any word."""
    beginnings = "|".join(sorted({_beginning(term) for term in terms}))
    return re.compile(rf"(?<![^\W_])(?:{beginnings})[^\W_]*")


def _beginning(term: str) -> str:
    return "[\u0621-\u06d3]" if "\u0621" <= term[:1] <= "\u06d3" else re.escape(term[:2])


def _with_neighbours(found: Found, held: Sequence[set[str]]) -> list[set[str]]:
    at = {
        (each.conversation_id, each.position): terms
        for each, terms in zip(found.passages, held, strict=False)
    }
    return [
        terms.union(
            *(
                at.get((each.conversation_id, position), ())
                for position in (each.position - 1, each.position + 1)
            )
        )
        for each, terms in zip(found.passages, held, strict=False)
    ]
