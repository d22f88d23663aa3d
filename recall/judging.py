"""A second look at the head of a ranking, with the texts at hand.

Scores of an index know words and meaning of one passage. Whether it answers also shows in what
stands around it: together with its neighbours it covers the question; it replies to something
that was asked rather than asking; it says more than a few words; the one who is asked about said
it. Each sign counts with a fixed weight. The weights were fitted on three of LoCoMo's chats,
rounded, and confirmed on two others and, unchanged, on RealMem's; see `docs/benchmarks.md`.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from backread.store.repositories.retrieval import FoundPassage
from recall.evidence import held_by, question_stems
from recall.fusion import Fusion, Place, Ranked
from recall.query import Question

HEAD = 40  # passages that are looked at again
_BESIDE = 0.7  # of a word that only a neighbour holds
_LONG = 7.0  # natural logarithm of the characters from which length adds nothing
_QUESTION_ENDS = ("?", "？", "؟")
_NUMBER = re.compile(r"\d")
_ROLES = frozenset({"User", "Assistant", ""})


@dataclass(frozen=True, slots=True)
class Signs:
    """What each sign counts, as a multiple of one that is fully there."""

    score: float = 4.5  # as the fusion gave it
    meaning: float = 1.0
    meaning_before: float = 2.0  # a reply follows what is like the question
    words: float = 3.5  # share of the question's words, rare ones counting more
    conversation: float = 2.5  # words of the question elsewhere in the conversation
    asks: float = -1.5
    replies: float = 0.5  # to a message that asks
    length: float = 3.5
    number: float = 1.5
    subject: float = 1.0  # said by the person that the question names first
    beside: float = -1.0  # the neighbours' own scores: they stand for themselves


def places_to_read(fusion: Fusion, head: int = HEAD) -> set[Place]:
    """The places whose passages `judged` looks at."""
    wanted: set[Place] = set()
    for each in fusion.ranked[:head]:
        wanted.update(_around(each.place))
    return wanted


def judged(
    question: Question,
    fusion: Fusion,
    passages: Mapping[Place, FoundPassage],
    signs: Signs | None = None,
    head: int = HEAD,
) -> list[Ranked]:
    """The ranking with its head in a better order. What has no passage keeps its place behind
    the head; scores stay comparable within the ranking."""
    first = [each for each in fusion.ranked[:head] if each.place in passages]
    if len(first) < 2:
        return fusion.ranked
    signs = signs or Signs()
    if not question.is_asking:
        signs = replace(signs, asks=0.0, replies=0.0, meaning_before=0.0)
    if not fusion.conversations:  # no passage holds a word of the question
        signs = _by_meaning(signs)
    judgements = list(_judge(question, fusion, passages, first, signs))
    known = {each.place for each in first}
    rest = [each for each in fusion.ranked if each.place not in known]
    top = max(each.score for each in first)
    # The head keeps its range of scores, and what follows stays below it.
    floor = max((each.score for each in rest), default=0.0)
    floor = max(min(each.score for each in first), min(floor, top))
    low, high = min(judgements), max(judgements)
    span = (high - low) or 1.0
    better = [
        Ranked(each.place, floor + (top - floor) * (judgement - low) / span)
        for each, judgement in zip(first, judgements, strict=True)
    ]
    better.sort(key=lambda each: (-each.score, each.place))
    return better + rest


def _by_meaning(signs: Signs) -> Signs:
    """What words say nothing about, as across languages, meaning decides: otherwise length and
    numbers would."""
    return replace(
        signs, words=0.0, conversation=0.0, meaning=signs.meaning + signs.words + signs.conversation
    )


def _judge(
    question: Question,
    fusion: Fusion,
    passages: Mapping[Place, FoundPassage],
    first: Sequence[Ranked],
    signs: Signs,
) -> Iterator[float]:
    top = max((each.score for each in fusion.ranked), default=0.0) or 1.0
    score_of = {each.place: each.score / top for each in fusion.ranked}
    words = _word_shares(question, passages, [each.place for each in first])
    subject = _subject(question, [passages[each.place] for each in first])
    for each, share in zip(first, words, strict=True):
        passage = passages[each.place]
        _, before, after = _around(each.place)
        previous = passages.get(before)
        said = passage.text.rstrip()
        yield (
            signs.score * score_of[each.place]
            + signs.meaning * fusion.meaning.get(each.place, 0.0)
            + signs.meaning_before * fusion.meaning.get(before, 0.0)
            + signs.words * share
            + signs.conversation * fusion.conversations.get(each.place[0], 0.0)
            + signs.asks * said.endswith(_QUESTION_ENDS)
            + signs.replies * (previous is not None and _asks(previous))
            + signs.length * min(1.0, math.log1p(len(passage.text)) / _LONG)
            + signs.number * (_NUMBER.search(said) is not None)
            + signs.subject * (subject != "" and _speaker(passage) == subject)
            + signs.beside * (score_of.get(before, 0.0) + score_of.get(after, 0.0))
        )


def _around(place: Place) -> tuple[Place, Place, Place]:
    conversation_id, position = place
    return place, (conversation_id, position - 1), (conversation_id, position + 1)


def _word_shares(
    question: Question, passages: Mapping[Place, FoundPassage], places: Sequence[Place]
) -> list[float]:
    """How much of the question each passage covers with its neighbours, 0 to 1."""
    terms = question_stems(question)
    if not terms:
        return [0.0] * len(places)
    around = [near for place in places for near in _around(place) if near in passages]
    read = list(dict.fromkeys(around))
    held = {near: held_by(passages[near], terms, question.language) for near in read}
    weight = {}
    for term in terms:
        frequency = sum(term in held[place] for place in places)
        weight[term] = math.log(1 + len(places) / (frequency + 0.5))
    total = sum(weight.values())
    shares = []
    for place in places:
        own, before, after = (held.get(near, frozenset()) for near in _around(place))
        beside = (before | after) - own
        covered = sum(weight[term] for term in own) + _BESIDE * sum(weight[t] for t in beside)
        shares.append(covered / total)
    return shares


def _subject(question: Question, passages: Sequence[FoundPassage]) -> str:
    """The speaker whom the question names first; "" when it names none."""
    named = {
        name: at
        for name in {_speaker(each) for each in passages} - _ROLES
        if len(name) > 2 and (at := question.text.find(name)) >= 0
    }
    return min(named, key=lambda name: (named[name], name)) if named else ""


def _speaker(passage: FoundPassage) -> str:
    """The first word of the heading, which begins with who said it."""
    return passage.heading.split(" (", 1)[0].split(" ", 1)[0]


def _asks(passage: FoundPassage) -> bool:
    return passage.text.rstrip().endswith(_QUESTION_ENDS)
