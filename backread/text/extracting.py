"""Choosing the sentences that say most of a text, without a model that writes.

LexRank (Erkan and Radev, 2004, https://arxiv.org/abs/1109.2128): a sentence counts by how many
sentences are like it, and more when those count themselves. Sentences that decide something or
name a date get more. MMR (Carbonell and Goldstein, 1998) then takes them one by one, each time
the one that says most that was not said yet.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backread.text.stemming import stems_of
from backread.tokens import estimate_tokens

Matrix = NDArray[np.float32]

MOST_SENTENCES = 800  # compared with each other; of more, the weightiest by a cheaper measure
SENTENCE_OVERHEAD_TOKENS = 12  # of the citation that goes with each sentence

_DAMPING = 0.85
_ROUNDS = 60
_LEAST_ALIKE = 0.05  # below it two sentences have nothing to do with each other
_NOVELTY = 0.6  # how much likeness to what is chosen counts against a sentence
_VECTOR_SHARE = 0.5  # of the likeness that vectors say, where they are given
_FEWEST_STEMS, _MOST_STEMS = 4, 60
_LEFT_OVER_TOKENS = 24
_RECURS = 20  # times after which a word recurs enough

_DECIDES, _DATES, _ASKS = 0.3, 0.15, -0.25  # on top of a centrality of 0 to 1
_WEIGHTY = re.compile(
    r"\b(?:decid|decision|agree|conclu|going with|go with|settled|chose|choose|chosen|plan|"
    r"deadline|final|result|recommend|summary|solution|fixed|cause|important|"
    r"entschied|beschlossen|einig|ergebnis|frist|lösung|wichtig|"
    r"décid|convenu|accord|conclusion|échéance|résultat|"
    r"decid|acord|acuerd|conclus|plazo|prazo|resultado|"
    r"реш[иеё]|договор|вывод|итог|срок)\w*"
    r"|决定|決定|決め|结论|結論|同意|截止|确定|確定|计划|予定|결정|합의|결론",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}\b|\d{1,2}\s*[月日]|\d{1,2}:\d\d|[€$£¥]\s*\d|\d\s*(?:€|%)"
    r"|\b(?:jan|feb|mar|märz|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec|monday|tuesday|"
    r"wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|"
    r"samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|viernes|"
    r"январ|феврал|март|апрел|июн|июл|август|сентябр|октябр|ноябр|декабр)\w*\b",
    re.IGNORECASE,
)
_QUESTION_ENDS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Weighed:
    """A sentence's own worth (0 to about 1.5) and its likeness to each other sentence (0 to 1)."""

    worth: NDArray[np.float64]
    alike: Matrix


def choose_sentences(
    sentences: Sequence[str],
    *,
    budget_tokens: int,
    vectors: Sequence[Sequence[float]] | Matrix | None = None,
    weights: Sequence[float] | None = None,
    overhead_tokens: int = SENTENCE_OVERHEAD_TOKENS,
    most: int | None = None,
) -> list[int]:
    """Indices of the sentences that say most, in the order of the text, inside the budget.

    `vectors`: unit vectors of the sentences, one each; then likeness in meaning counts as well as
    likeness in words. `weights`: a factor for each sentence's worth, e.g. who said it; 0 leaves
    it out. `overhead_tokens` is what each chosen sentence costs beside its own text; `most`
    bounds how many are chosen. The same input always gives the same answer.
    """
    stems = [stems_of(each) for each in sentences]
    usable = _usable(sentences, stems, weights)
    if not usable:
        return []
    rows = None if vectors is None else np.asarray(vectors, dtype=np.float32)[usable]
    weighed = weigh([sentences[n] for n in usable], rows, stems=[stems[n] for n in usable])
    worth = weighed.worth
    if weights is not None:
        worth = worth * np.asarray([weights[n] for n in usable])
    costs = [estimate_tokens(sentences[n]) + overhead_tokens for n in usable]
    chosen = _by_margin(worth, weighed.alike, costs, budget_tokens, most or len(usable))
    return sorted(usable[n] for n in chosen)


def weigh(
    sentences: Sequence[str],
    vectors: Matrix | None = None,
    *,
    stems: Sequence[Sequence[str]] | None = None,
) -> Weighed:
    """LexRank's worth of each sentence, with what its words promise, and their likeness. `stems`
    are those of the sentences, if the caller has them."""
    alike = _likeness(stems or [stems_of(each) for each in sentences])
    if vectors is not None:
        meaning = np.clip(vectors @ vectors.T, 0.0, 1.0)
        alike = (1 - _VECTOR_SHARE) * alike + _VECTOR_SHARE * meaning
    promised = np.asarray([_promise(each) for each in sentences])
    return Weighed(_central(alike) + promised, alike.astype(np.float32))


def _usable(
    sentences: Sequence[str], stems: Sequence[Sequence[str]], weights: Sequence[float] | None
) -> list[int]:
    """Those that can stand alone: neither fragments nor lists of words. All, when none can."""
    wanted = [
        n
        for n, each in enumerate(sentences)
        if each.strip() and (weights is None or weights[n] > 0)
    ]
    distinct = {n: set(stems[n]) for n in wanted}
    fit = [n for n in wanted if _FEWEST_STEMS <= len(distinct[n]) <= _MOST_STEMS] or wanted
    if len(fit) <= MOST_SENTENCES:
        return fit
    # Of a very long text, those whose words recur: a comparison of each with each costs too much.
    frequency = Counter(stem for n in fit for stem in distinct[n])
    value = {
        n: sum(min(frequency[stem], _RECURS) for stem in distinct[n]) / (10 + len(distinct[n]))
        + _RECURS * _promise(sentences[n]) / 2
        for n in fit
    }
    return sorted(sorted(fit, key=lambda n: -value[n])[:MOST_SENTENCES])


def _promise(sentence: str) -> float:
    promise = _DECIDES if _WEIGHTY.search(sentence) else 0.0
    promise += _DATES if _DATED.search(sentence) else 0.0
    return promise + (_ASKS if sentence.rstrip().endswith(_QUESTION_ENDS) else 0.0)


def _likeness(stems: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Cosines of the sentences' words, rarer words counting more."""
    count = len(stems)
    frequency = Counter(stem for each in stems for stem in set(each))
    # A word of one sentence only makes nothing alike, but it makes that sentence longer.
    shared = {stem: n for n, stem in enumerate(s for s, f in frequency.items() if f > 1)}
    matrix = np.zeros((count, len(shared) + 1), dtype=np.float32)
    for row, each in enumerate(stems):
        alone = 0.0
        for stem in set(each):
            # Rarer words count more, but not so much that two sentences which differ in a number
            # only have nothing in common.
            rarity = float(np.log(1 + count / frequency[stem]))
            if stem in shared:
                matrix[row, shared[stem]] = np.sqrt(rarity)
            else:
                alone += rarity
        matrix[row, -1] = np.sqrt(alone)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    norms[norms == 0] = 1.0
    matrix /= norms
    words = matrix[:, :-1]
    alike: NDArray[np.float64] = (words @ words.T).astype(np.float64)
    np.fill_diagonal(alike, 1.0)
    return alike


def _central(alike: NDArray[np.float64]) -> NDArray[np.float64]:
    """LexRank by the power method, scaled to at most 1."""
    count = len(alike)
    links = np.where(alike >= _LEAST_ALIKE, alike, 0.0)
    np.fill_diagonal(links, 0.0)  # what nothing else is like must not count by itself
    sums = links.sum(axis=1, keepdims=True)
    links = np.divide(links, sums, out=np.full_like(links, 1.0 / count), where=sums > 0)
    rank = np.full(count, 1.0 / count)
    for _ in range(_ROUNDS):
        following = (1 - _DAMPING) / count + _DAMPING * (links.T @ rank)
        if np.abs(following - rank).max() < 1e-6 / count:
            rank = following
            break
        rank = following
    central: NDArray[np.float64] = rank / rank.max()
    return central


def _by_margin(
    worth: NDArray[np.float64], alike: Matrix, costs: Sequence[int], budget: int, most: int
) -> list[int]:
    """Maximal marginal relevance inside the budget."""
    chosen: list[int] = []
    said = np.zeros(len(worth))
    open_ = np.asarray([cost <= budget for cost in costs]) & (worth > 0)
    left = budget
    while open_.any() and len(chosen) < most and left >= min(_LEFT_OVER_TOKENS, budget):
        margin = np.where(open_, worth - _NOVELTY * 2 * said * np.maximum(worth, 0.3), -np.inf)
        best = int(np.argmax(margin))
        open_[best] = False
        if costs[best] > left:
            continue
        chosen.append(best)
        left -= costs[best]
        said = np.maximum(said, alike[best])
    return chosen
