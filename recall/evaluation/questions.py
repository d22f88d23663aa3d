"""Questions whose answer is known, made from an archive without a language model.

A sentence of the person's own messages is held out. What is asked names some of its words, never
the rarest alone and never all, in another order than they were said; half of the questions name
the month it was said in as well. It is not how people ask, but it is the same for each run.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from backread.domain import Role
from backread.store.engine import ReadSession
from backread.store.fulltext import WordQuery, words
from backread.store.repositories.retrieval import (
    FoundPassage,
    PassageFilter,
    passages_by_ids,
    sampled_passage_ids,
    search_words,
)
from recall.query import without_question_words
from recall.rendering import one_line
from recall.sentences import sentences

_LEAST_WORDS = 5
_MOST_WORDS = 40
_NAMED = 5
_LONGEST_WORD = 24
_TRIES_PER_QUESTION = 6
# Pairs of words that hardly any archive holds together; those that one does are left out.
_ELSEWHERE = (
    "falconry licence", "zither lessons", "glacier tent", "harpsichord tuning", "beekeeper auction",
    "curling stones", "lighthouse painting", "camel caravan", "porcelain repair", "oboe reeds",
    "truffle hound", "bagpipe competition", "sundial restoration", "hovercraft rental",
    "marzipan sculpture", "ostrich farm", "kayak portage", "alpaca shearing", "stilt walking",
    "gondola varnish", "puppet theatre curtain", "quarry blasting permit", "ice cave survey",
    "heraldry embroidery",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """`source` is the passage that the question was made from; None for one without an answer."""

    text: str
    source: FoundPassage | None
    is_dated: bool = False


def made_questions(
    session: ReadSession, account_id: str, *, count: int, seed: int, zone: tzinfo
) -> list[MadeQuestion]:
    """Up to `count` questions with a known answer; fewer when the archive is small. The same for
    the same archive and seed."""
    draw = random.Random(seed)  # noqa: S311 - a sample, no secret
    ids = sampled_passage_ids(session, account_id, limit=count * 200)
    draw.shuffle(ids)
    made: list[MadeQuestion] = []
    for start in range(0, min(len(ids), count * _TRIES_PER_QUESTION), count):
        for passage in passages_by_ids(session, account_id, ids[start : start + count]):
            question = _made(passage, draw, zone, is_dated=len(made) % 2 == 1)
            if question is not None:
                made.append(question)
            if len(made) == count:
                return made
    return made


def _made(
    passage: FoundPassage, draw: random.Random, zone: tzinfo, *, is_dated: bool
) -> MadeQuestion | None:
    if passage.role != Role.USER:
        return None
    fit = [each for each in sentences(passage.text) if _is_fit(each)]
    if not fit:
        return None
    named = _naming(draw.choice(fit))
    if len(named) < _LEAST_WORDS - 1:
        return None
    kept = draw.sample(named, min(_NAMED, len(named) - 1))
    text = f"What did I say about {', '.join(kept[:-1])} and {kept[-1]}"
    at = passage.occurred_at
    has_date = is_dated and at is not None
    if has_date and at is not None:
        local = at.astimezone(zone)
        text += f" in {local:%B} {local.year}"
    return MadeQuestion(f"{text}?", passage, is_dated=has_date)


def _is_fit(sentence: str) -> bool:
    count = len(sentence.split())
    return _LEAST_WORDS <= count <= _MOST_WORDS and not sentence.endswith(("?", "？", "؟"))


def _naming(sentence: str) -> list[str]:
    """Its words that name something, without signs, each once."""
    parts = without_question_words(one_line(sentence, 400)).split()
    cleaned = (part.strip(".,;:!?\"'“”‘’()[]…*_`") for part in parts)
    fit = (part for part in cleaned if 2 < len(part) <= _LONGEST_WORD and words(part))
    return list(dict.fromkeys(fit))


def unanswerable_questions(
    session: ReadSession, account_id: str, *, count: int, seed: int
) -> list[MadeQuestion]:
    """Questions about what nobody talked about: no passage holds their words together."""
    draw = random.Random(seed)  # noqa: S311 - a sample, no secret
    pairs = [each.split() for each in _ELSEWHERE]
    draw.shuffle(pairs)
    found = (MadeQuestion(_elsewhere(pair), None) for pair in _absent(session, account_id, pairs))
    return [question for question, _ in zip(found, range(count), strict=False)]


def _absent(
    session: ReadSession, account_id: str, pairs: Sequence[Sequence[str]]
) -> Iterator[Sequence[str]]:
    for pair in pairs:
        together = WordQuery(required=[(word,) for word in pair[:2]])
        if not search_words(session, PassageFilter(account_id), together, limit=1):
            yield pair


def _elsewhere(pair: Sequence[str]) -> str:
    return f"What did we decide about the {' '.join(pair)}?"


def first_moment(questions: Sequence[MadeQuestion]) -> datetime:
    """When all of them can be asked: after everything they were made from."""
    times = [each.source.occurred_at for each in questions if each.source is not None]
    return max((each for each in times if each is not None), default=datetime.now(UTC))
