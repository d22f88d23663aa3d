"""Quoted phrases and excluded words, which full text checks exactly."""

from collections.abc import Sequence

from backread.store.engine import ReadSession
from backread.store.fulltext import WordQuery
from backread.store.repositories.retrieval import (
    PassageFilter,
    passages_at,
    places_of,
    search_words,
)
from recall.fusion import Ranked
from recall.query import Question

_PHRASE_DEPTH = 1000


def with_operators(
    session: ReadSession, wanted: PassageFilter, question: Question, ranked: Sequence[Ranked]
) -> list[Ranked]:
    """The ranking without what the operators of the question bar."""
    if question.phrases:
        return _with_phrases(session, wanted, question, ranked)
    passages = passages_at(session, wanted.account_id, {each.place for each in ranked})
    ids = {passage.id: place for place, passage in passages.items()}
    unwanted = WordQuery(any_of=question.excluded)
    barred = {
        ids[each]
        for each, _ in search_words(session, wanted, unwanted, limit=len(ids), among=list(ids))
    }
    return [each for each in ranked if each.place not in barred]


def _with_phrases(
    session: ReadSession, wanted: PassageFilter, question: Question, ranked: Sequence[Ranked]
) -> list[Ranked]:
    matches = search_words(session, wanted, question.all_phrases(), limit=_PHRASE_DEPTH)
    places = places_of(session, wanted.account_id, [each for each, _ in matches])
    holding = [
        (place.conversation_id, place.position)
        for each, _ in matches
        if (place := places.get(each)) is not None
    ]
    score_of = {each.place: each.score for each in ranked}
    top = max(score_of.values(), default=1.0)
    # Those that the ranking does not know follow in the order of full text.
    scored = {
        place: score_of.get(place, 0.01 * top * (len(holding) - order) / len(holding))
        for order, place in enumerate(holding)
    }
    if not question.is_exact:
        scored = {**score_of, **{place: score + top for place, score in scored.items()}}
    found = [Ranked(place, score) for place, score in scored.items()]
    return sorted(found, key=lambda each: (-each.score, each.place))
