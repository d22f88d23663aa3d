"""Which sentences answer a question, inside a token budget.

Extractive: nothing is put into words that nobody said. `rank-bm25` weighs the sentences of the
retrieved passages against the question; a sentence counts by that, by how well its passage was
ranked, and by what stands beside it, because a reply seldom repeats the words it replies to.
What adds nothing to a chosen sentence is left out, what differs from it is set beside it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache

from rank_bm25 import BM25Plus

from backread.domain import Role
from backread.store.fulltext import words
from backread.store.repositories.retrieval import FoundPassage
from backread.tokens import estimate_tokens
from recall.evidence import question_stems
from recall.found import Found
from recall.query import QUESTION_WORDS
from recall.rendering import one_line
from recall.sentences import sentences, stem, stems
from recall.surroundings import surroundings

_PASSAGE_SHARE = 0.4  # of its passage's value that a sentence has without a word of the question
_LEAST = 0.5  # of the best statement's value, if that were an answer
_BESIDE = (0.5, 0.3)  # of a match that the next sentence and the one before it get
_REPLY = (0.7, 0.5, 0.3)  # of a matching question that the first sentences of the reply get
_QUESTION = 0.6  # what is looked for are answers
_FRAGMENT = 0.6
_FEW_WORDS = 2
_FRAGMENT_WORDS = 5
_MOST_SENTENCES = 400
_MOST_ORDER = 1_000_000  # no passage has so many sentences: orders beyond are of surroundings
_MOST_BESIDE = 24  # sentences; more take longer to compare than they add
_KEPT_BACK = 60  # tokens that surroundings leave for the questions that are answered
_SAME = 0.75  # share of stems from which two sentences say the same
_CONTAINED = 0.9  # … of the shorter one's stems
_CONTAINED_STEMS = 4
_ALIKE = 0.5  # … from which they speak of the same thing
_CONFLICT_GAP = timedelta(hours=12)
_NUMBER = re.compile(r"\d")
_NEGATION = frozenset({"not", "no", "never", "without", "anymore", "instead", "nobody", "nothing"})
_NEGATIVE_ENDING = re.compile(r"\b\w+n['’]t\b", re.IGNORECASE)
SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", ")", '"', "”", "»", "」")
_QUESTION_ENDS = ("?", "？")
# What an assistant says around an answer.
_COURTESY = re.compile(
    r"(?:sure|of course|certainly|absolutely|great|good|excellent|you'?re welcome|glad to|happy to|"
    r"thanks|thank you|let me know|feel free|i hope|hope this|would you like|do you want me|"
    r"shall i|should i|i'?d be happy|happy to help|here(?:'s| is| are)|below is|in summary)\b",
    re.IGNORECASE,
)
_COURTESY_WORDS = 8
_LETTERS = re.compile(r"[^\W\d_]{2}")
_LINE_CHARACTERS = 400
# Tokens of a citation beside its words: the line of a source, and that of a speaker.
SOURCE_OVERHEAD = 14
SPEAKER_OVERHEAD = 8
_CONFLICT_OVERHEAD = 20


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as it was said. `conflict` numbers a pair that differs; 0 for none. `asked` is
    the question that it answers, when that has to be known to understand it. `is_worded`: a model
    put it into words; it is supported by `passage` and `others`."""

    text: str
    passage: FoundPassage
    value: float
    order: int
    conflict: int = 0
    asked: str = ""
    others: tuple[FoundPassage, ...] = ()
    is_worded: bool = False

    @property
    def stems(self) -> frozenset[str]:
        return _stem_set(self.text)


@lru_cache(maxsize=2048)
def _stem_set(text: str) -> frozenset[str]:
    return frozenset(stems(text))


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The statements that answer, by conversation, best first, and in the order they were said.
    `left` tokens of the budget are not used."""

    statements: list[Statement]
    left: int


def synthesise(found: Found, max_tokens: int) -> Synthesis:
    """The statements that answer best, inside `max_tokens` as `estimate_tokens` counts them with
    their citations. Empty when there are none."""
    candidates = sorted(_candidates(found), key=lambda each: -each.value)
    selection = _Selection(max_tokens)
    least = _LEAST * max((_unasked(each) for each in candidates), default=0.0)
    opposing = [each for each in candidates if each.value >= least / 2]
    for candidate in candidates:
        if candidate.value < least:
            break  # what room is left is for what stands around the chosen ones
        if not selection.chosen and selection.cost(candidate) > max_tokens:
            return _cut_to_fit(candidate, max_tokens)
        if selection.repeats(candidate):
            continue
        if selection.add(candidate):
            # What contradicts a chosen statement belongs beside it, however it was ranked.
            partner = next((each for each in opposing if _conflict(candidate, each)), None)
            if partner is not None and not selection.repeats(partner):
                selection.add(partner)
    _add_surroundings(found, selection, least)
    return Synthesis(_in_reading_order(selection.chosen), selection.left)


def _add_surroundings(found: Found, selection: "_Selection", least: float) -> None:
    """Sentences beside the chosen ones, best first, while there is room. They are worth less than
    any that was chosen by itself, so that they are the first to go."""
    if selection.left <= _KEPT_BACK or not selection.chosen:
        return
    top = max(each.value for each in selection.chosen)
    places = [
        ((each.passage.conversation_id, each.passage.position), each.value / top)
        for each in selection.chosen
    ]
    beside: list[Statement] = []
    for passage, share in surroundings(found, places):
        for text in sentences(passage.text):
            naming = sum(word not in QUESTION_WORDS for word in words(text))
            if naming < _FEW_WORDS or text.endswith(_QUESTION_ENDS):
                continue
            value = least * _value(text, naming, passage, share, 1.0)
            beside.append(Statement(text, passage, value, _MOST_ORDER + len(beside)))
    for candidate in sorted(beside, key=lambda each: -each.value)[:_MOST_BESIDE]:
        fits = selection.cost(candidate) + _CONFLICT_OVERHEAD <= selection.left - _KEPT_BACK
        if fits and not selection.repeats(candidate):
            selection.add(candidate)


class _Selection:
    """Statements chosen so far and the tokens that are left."""

    def __init__(self, tokens: int) -> None:
        self.chosen: list[Statement] = []
        self.left = tokens
        self._conflicts = 0
        self._cited: set[str] = set()  # conversations and messages that have their line

    def repeats(self, candidate: Statement) -> bool:
        return any(
            each.order == candidate.order
            or (_says_the_same(candidate, each) and not _differ(candidate, each))
            for each in self.chosen
        )

    def cost(self, candidate: Statement) -> int:
        passage = candidate.passage
        tokens = estimate_tokens(candidate.text) + 1
        if passage.conversation_id not in self._cited:
            tokens += SOURCE_OVERHEAD + estimate_tokens(passage.title)
        return tokens if passage.message_id in self._cited else tokens + SPEAKER_OVERHEAD

    def add(self, candidate: Statement) -> bool:
        """Takes it if it fits, and marks it and the chosen one that it contradicts, if any."""
        partner = next((each for each in self.chosen if _conflict(candidate, each)), None)
        cost = self.cost(candidate)
        if partner is not None:
            cost += _CONFLICT_OVERHEAD
        if cost > self.left:
            return False
        if partner is not None:
            number = partner.conflict
            if not number:
                self._conflicts += 1
                number = self._conflicts
                self.chosen[self.chosen.index(partner)] = replace(partner, conflict=number)
            candidate = replace(candidate, conflict=number)
        self.chosen.append(candidate)
        self._cited |= {candidate.passage.conversation_id, candidate.passage.message_id}
        self.left -= cost
        return True


def _candidates(found: Found) -> list[Statement]:
    texts: list[str] = []
    passages: list[int] = []
    said: list[list[str]] = []
    for number, passage in enumerate(found.passages):
        for text in _said_in(passage):
            naming = [word for word in words(text) if word not in QUESTION_WORDS]
            if naming:
                texts.append(text)
                passages.append(number)
                said.append(naming)
        if len(texts) >= _MOST_SENTENCES:
            break
    if not texts:
        return []
    top = max(found.scores, default=0.0) or 1.0
    matches = _with_context(found, passages, _matches(found, said))
    return [
        Statement(
            text,
            found.passages[number],
            _value(text, len(naming), found.passages[number], found.scores[number] / top, match),
            order,
        )
        for order, (text, number, naming, match) in enumerate(
            zip(texts, passages, said, matches, strict=True)
        )
    ]


def _said_in(passage: FoundPassage) -> Iterator[str]:
    """Its sentences. Of a document without any, which is code, the lines as they are: somebody
    who asks for a file of code is not served by silence."""
    said = sentences(passage.text)
    first = next(said, None)
    if first is not None:
        yield first
        yield from said
    elif passage.document:
        for line in passage.text.splitlines():
            if _LETTERS.search(line):
                yield one_line(line, _LINE_CHARACTERS)


def _matches(found: Found, said: Sequence[Sequence[str]]) -> list[float]:
    """How much of the question each sentence holds, the best one 1."""
    asked = question_stems(found.question)
    if not asked:
        return [1.0] * len(said)
    # What is no word of the question only counts by its length, so it need not be stemmed.
    beginnings = {term[:2] for term in asked}
    language = found.question.language
    corpus = [
        [
            stem(word, language) if word[:2] in beginnings or not word.isascii() else ""
            for word in each
        ]
        for each in said
    ]
    # BM25Plus: unlike Okapi's, its weights stay above zero when a word is in most sentences.
    scores = [float(score) for score in BM25Plus(corpus).get_scores(list(asked))]
    low, high = min(scores), max(scores)
    return [(score - low) / ((high - low) or 1.0) for score in scores]


def _with_context(found: Found, passages: Sequence[int], matches: Sequence[float]) -> list[float]:
    """The matches, with what sentences get from those beside them and replies from the question
    that they follow. `passages` says for each sentence which passage it is of."""
    best: dict[tuple[str, int], float] = {}
    for number, match in zip(passages, matches, strict=True):
        passage = found.passages[number]
        if passage.role == Role.USER:
            place = (passage.conversation_id, passage.position)
            best[place] = max(match, best.get(place, 0.0))
    after, before = _BESIDE
    carried = list(matches)
    place_in_passage = 0
    for n, number in enumerate(passages):
        is_first = n == 0 or passages[n - 1] != number
        place_in_passage = 0 if is_first else place_in_passage + 1
        if not is_first:
            carried[n] = max(carried[n], after * matches[n - 1])
        if n + 1 < len(passages) and passages[n + 1] == number:
            carried[n] = max(carried[n], before * matches[n + 1])
        passage = found.passages[number]
        is_reply = passage.role != Role.USER and not passage.document
        if is_reply and place_in_passage < len(_REPLY):
            question = best.get((passage.conversation_id, passage.position - 1), 0.0)
            carried[n] = max(carried[n], _REPLY[place_in_passage] * question)
    return carried


def _value(text: str, naming: int, passage: FoundPassage, strength: float, match: float) -> float:
    value = strength * (_PASSAGE_SHARE + (1 - _PASSAGE_SHARE) * match)
    if naming < _FEW_WORDS:
        value *= 0.5
    if text.endswith(_QUESTION_ENDS):
        value *= _QUESTION
    if passage.role != Role.USER:
        if naming < _FRAGMENT_WORDS and not text.endswith(SENTENCE_ENDS):
            value *= _FRAGMENT  # a label or an item of a list
        if naming <= _COURTESY_WORDS and _COURTESY.match(text):
            value *= 0.5
    return value


def _unasked(statement: Statement) -> float:
    """What a question would be worth if it were an answer."""
    return statement.value / (_QUESTION if statement.text.endswith(_QUESTION_ENDS) else 1.0)


def _cut_to_fit(statement: Statement, tokens: int) -> Synthesis:
    """The beginning of one sentence, when even the best is longer than the whole budget."""
    room = tokens - SOURCE_OVERHEAD
    text = statement.text
    while text and estimate_tokens(text) + 1 > room:
        text = (
            text[: len(text) * 9 // 10].rsplit(" ", 1)[0] if " " in text else text[: len(text) // 2]
        )
    return Synthesis([replace(statement, text=text)] if text else [], 0)


def _in_reading_order(chosen: Sequence[Statement]) -> list[Statement]:
    best: dict[str, float] = {}
    for each in chosen:
        conversation_id = each.passage.conversation_id
        best[conversation_id] = max(each.value, best.get(conversation_id, 0.0))
    return sorted(
        chosen,
        key=lambda each: (
            -best[each.passage.conversation_id],
            each.passage.conversation_id,
            each.passage.position,
            each.order,
        ),
    )


def _are_alike(left: Statement, right: Statement) -> bool:
    one, other = left.stems, right.stems
    both, shorter = len(one) + len(other), min(len(one), len(other))
    if not both or shorter < _ALIKE * (both - shorter):
        return False  # most pairs, and so without comparing them
    shared = len(one & other)
    return shared >= _ALIKE * (both - shared)


def _says_the_same(left: Statement, right: Statement) -> bool:
    one, other = left.stems, right.stems
    shared = len(one & other)
    shorter = min(len(one), len(other))
    if shorter >= _CONTAINED_STEMS and shared >= _CONTAINED * shorter:
        return True
    return shared >= _SAME * (len(one) + len(other) - shared)


def _differ(left: Statement, right: Statement) -> bool:
    """Whether two similar sentences differ in a number, a name or a negation."""
    only = left.stems ^ right.stems
    if any(_NUMBER.search(stem) for stem in only) or _is_negative(left) != _is_negative(right):
        return True
    return bool(_names(left) ^ _names(right))


def _names(statement: Statement) -> frozenset[str]:
    """Words written with a capital inside the sentence."""
    inner = statement.text.split()[1:]
    return frozenset(
        word.strip(".,;:!?\"'’()") for word in inner if word[:1].isupper() and len(word) > 1
    )


def _is_negative(statement: Statement) -> bool:
    found = not _NEGATION.isdisjoint(statement.text.lower().split())
    return found or _NEGATIVE_ENDING.search(statement.text) is not None


def _conflict(left: Statement, right: Statement) -> bool:
    one, other = left.passage, right.passage
    if one.role != other.role or one.occurred_at is None or other.occurred_at is None:
        return False
    if abs(one.occurred_at - other.occurred_at) < _CONFLICT_GAP:
        return False
    return _are_alike(left, right) and _differ(left, right)
