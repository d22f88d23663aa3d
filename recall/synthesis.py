"""A short answer out of the passages found: sentences as they were said, each with its source.

Nothing is written that no source says. Sentences are chosen inside a token budget by what they
share with the question (BM25 over the sentences of the chosen passages) and by how well their
passage was ranked. Statements of one speaker that say different things at different times are
shown together, each with its date.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from rank_bm25 import BM25Plus

from backread.store.repositories.retrieval import FoundPassage
from backread.tokens import estimate_tokens
from recall.evidence import question_stems
from recall.rendering import day
from recall.search import Found
from recall.sentences import sentences, stems

_PASSAGE_WEIGHT = 0.6
_LEAST = 0.35  # of the best statement's value
_SAME = 0.75  # share of stems from which two sentences say the same
_ALIKE = 0.5  # … from which they speak of the same thing
_CONFLICT_GAP = timedelta(hours=12)
_FEW_STEMS = 2
_LINE_OVERHEAD = 12  # tokens of a line's date, speaker and source mark
_CONFLICT_OVERHEAD = 12  # … and of the line that introduces two that differ
_NUMBER = re.compile(r"\d")
_NEGATION = frozenset({"not", "no", "never", "without", "anymore", "instead", "nobody", "nothing"})
_NEGATIVE_ENDING = re.compile(r"\b\w+n['’]t\b", re.IGNORECASE)
_MOST_SENTENCES = 400


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as it was said. `conflict` numbers a pair that differs; 0 for none."""

    text: str
    passage: FoundPassage
    value: float
    stems: frozenset[str]
    order: int
    conflict: int = 0

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text) + _LINE_OVERHEAD


def synthesise(found: Found, max_tokens: int) -> list[Statement]:
    """The statements that answer best, inside `max_tokens` as `estimate_tokens` counts, grouped
    by conversation (best first) and in the order they were said. Empty when there are none."""
    candidates = sorted(_candidates(found), key=lambda each: -each.value)
    selection = _Selection(max_tokens)
    least = _LEAST * candidates[0].value if candidates else 0.0
    for candidate in candidates:
        if candidate.value < least:
            break  # room that is left is no reason to say what was not asked
        if candidate.tokens > selection.left and not selection.chosen:
            return _cut_to_fit(candidate, max_tokens)
        if selection.repeats(candidate):
            continue
        if selection.add(candidate):
            # What contradicts a chosen statement belongs beside it, however it was ranked.
            partner = next((each for each in candidates if _conflict(candidate, each)), None)
            if partner is not None and not selection.repeats(partner):
                selection.add(partner)
    return _in_reading_order(selection.chosen)


class _Selection:
    """Statements chosen so far and the tokens that are left."""

    def __init__(self, tokens: int) -> None:
        self.chosen: list[Statement] = []
        self.left = tokens
        self._conflicts = 0

    def repeats(self, candidate: Statement) -> bool:
        return any(
            each.order == candidate.order
            or (_overlap(candidate, each) >= _SAME and not _differ(candidate, each))
            for each in self.chosen
        )

    def add(self, candidate: Statement) -> bool:
        """Takes it if it fits, and marks it and the chosen one that it contradicts, if any."""
        partner = next((each for each in self.chosen if _conflict(candidate, each)), None)
        cost = candidate.tokens
        if partner is not None and not partner.conflict:
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
        self.left -= cost
        return True


def _candidates(found: Found) -> list[Statement]:
    statements: list[Statement] = []
    texts: list[list[str]] = []
    top = max(found.scores, default=0.0) or 1.0
    for passage, score in zip(found.passages, found.scores, strict=True):
        for start, end in sentences(passage.text):
            text = " ".join(passage.text[start:end].split())
            words = stems(text)
            if not words:
                continue
            texts.append(words)
            statements.append(
                Statement(text, passage, score / top, frozenset(words), len(statements))
            )
            if len(statements) == _MOST_SENTENCES:
                return _valued(found, statements, texts)
    return _valued(found, statements, texts)


def _valued(
    found: Found, statements: Sequence[Statement], texts: Sequence[list[str]]
) -> list[Statement]:
    if not statements:
        return []
    asked = question_stems(found.question)
    # BM25Plus: unlike Okapi's, its weights stay above zero when a word is in most sentences.
    scores = BM25Plus(texts).get_scores(list(asked)) if asked else [0.0] * len(texts)
    low, high = float(min(scores)), float(max(scores))
    spread = (high - low) or 1.0
    return [
        replace(
            statement,
            value=_value(statement, (float(score) - low) / spread),
        )
        for statement, score in zip(statements, scores, strict=True)
    ]


def _value(statement: Statement, match: float) -> float:
    value = _PASSAGE_WEIGHT * statement.value + (1 - _PASSAGE_WEIGHT) * match
    if len(statement.stems) < _FEW_STEMS:
        value *= 0.5
    if statement.text.endswith(("?", "？")):
        value *= 0.8  # a question asks; what is looked for are answers
    return value


def _cut_to_fit(statement: Statement, tokens: int) -> list[Statement]:
    """The beginning of one sentence, when even the best is longer than the whole budget."""
    room = tokens - _LINE_OVERHEAD
    text = statement.text
    while text and estimate_tokens(text) + 1 > room:
        text = (
            text[: len(text) * 9 // 10].rsplit(" ", 1)[0] if " " in text else text[: len(text) // 2]
        )
    return [replace(statement, text=text)] if text else []


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


def _overlap(left: Statement, right: Statement) -> float:
    union = len(left.stems | right.stems)
    return len(left.stems & right.stems) / union if union else 0.0


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
    return _overlap(left, right) >= _ALIKE and _differ(left, right)


def speaker(passage: FoundPassage) -> str:
    """Who said it, as the line shows it."""
    return "user" if passage.role == "user" else "assistant"


def render(statements: Sequence[Statement], source_of: dict[str, int], texts: Sequence[str]) -> str:
    """One line a statement: date, speaker, words and source; differing ones together at the end.

    `texts` are the statements' words, cleaned, in their order.
    """
    plain: list[str] = []
    differing: dict[int, list[tuple[Statement, str]]] = {}
    for statement, text in zip(statements, texts, strict=True):
        line = (
            f"- {day(statement.passage.occurred_at)}, {speaker(statement.passage)}: "
            f"{text} [{source_of[statement.passage.conversation_id]}]"
        )
        if statement.conflict:
            differing.setdefault(statement.conflict, []).append((statement, line))
        else:
            plain.append(line)
    for pair in differing.values():
        plain.append("These differ; the later one is last:")
        pair.sort(
            key=lambda each: (
                (
                    each[0].passage.occurred_at is not None
                    and each[0].passage.occurred_at.timestamp()
                )
                or 0.0
            )
        )
        plain.extend(line for _, line in pair)
    return "\n".join(plain)
