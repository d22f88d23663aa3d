"""What can be judged only with the texts at hand, after the fusion of scores.

Every passage carries its conversation's title in the indexed heading, so a title that matches
lifts all passages of the conversation alike, and the shortest most: "Thanks, that helped!" would
come first. And what answers a question seldom repeats its words: the reply to a question that was
found belongs to what was found.
"""

from collections.abc import Sequence, Set
from dataclasses import replace
from datetime import datetime
from itertools import islice

from backread.domain import Role
from backread.store.engine import ReadSession
from backread.store.repositories.retrieval import FoundPassage, passages_at
from recall.evidence import question_stems, terms_held
from recall.found import Found

_SHORT_TOKENS = 14
_BY_TITLE_ALONE = 0.4
_REPLY_SHARE = 0.85  # of the score of the question that it replies to
_QUESTIONS_FOLLOWED = 6
_Scored = tuple[FoundPassage, float]
Place = tuple[str, int]  # conversation id, position
_QUESTION_MARKS = ("?", "？", "؟")


def without_title_only(found: Found) -> Found:
    """Short passages that match by their title alone go to the end; the rest keep their order."""
    terms = question_stems(found.question)
    if not terms:
        return found
    held = terms_held([each.text for each in found.passages], terms, found.question.language)
    kept: list[_Scored] = []
    demoted: list[_Scored] = []
    for passage, score, own in zip(found.passages, found.scores, held, strict=True):
        if passage.title and passage.token_count <= _SHORT_TOKENS and not own:
            demoted.append((passage, score * _BY_TITLE_ALONE))
        else:
            kept.append((passage, score))
    return _with(found, kept + demoted)


def with_replies(session: ReadSession, account_id: str, answers: Sequence[Found]) -> list[Found]:
    """Each of the first passages in which the user asks something is followed by the passage that
    replies to it, scored a little below the question."""
    places = {_reply_place(each) for found in answers for each in _asking(found)}
    following = known_or_read(session, account_id, answers, places)
    return [_joined(found, following) for found in answers] if following else list(answers)


def known_or_read(
    session: ReadSession, account_id: str, answers: Sequence[Found], places: Set[Place]
) -> dict[Place, FoundPassage]:
    """The passages of the places, from what was read before and the rest from the database."""
    known: dict[Place, FoundPassage | None] = {}
    for found in answers:
        known.update((place, found.around[place]) for place in places & found.around.keys())
    read = passages_at(session, account_id, places - known.keys())
    return read | {place: each for place, each in known.items() if each is not None}


def _asking(found: Found) -> list[FoundPassage]:
    asking = (
        each
        for each in found.passages
        if each.role == Role.USER and any(mark in each.text for mark in _QUESTION_MARKS)
    )
    return list(islice(asking, _QUESTIONS_FOLLOWED))


def _reply_place(question: FoundPassage) -> tuple[str, int]:
    return question.conversation_id, question.position + 1


def _joined(found: Found, following: dict[tuple[str, int], FoundPassage]) -> Found:
    asking = {each.id for each in _asking(found)}
    score_of = dict(zip((each.id for each in found.passages), found.scores, strict=True))
    joined: dict[int, _Scored] = {}
    for passage in found.passages:
        score = score_of[passage.id]
        joined.setdefault(passage.id, (passage, score))
        reply = following.get(_reply_place(passage)) if passage.id in asking else None
        is_reply = reply is not None and reply.role != Role.USER and not reply.document
        if reply is not None and is_reply and _may_be_found(found, reply):
            own = score_of.get(reply.id, 0.0)
            joined.setdefault(reply.id, (reply, max(_REPLY_SHARE * score, own)))
    return _with(found, list(joined.values()))


def _may_be_found(found: Found, passage: FoundPassage) -> bool:
    question = found.question
    if question.as_of is not None and not _is_by(passage, question.as_of):
        return False
    return not question.is_time_strict or question.time.holds(passage.occurred_at)


def _is_by(passage: FoundPassage, moment: datetime) -> bool:
    return passage.occurred_at is not None and passage.occurred_at <= moment


def _with(found: Found, scored: Sequence[_Scored]) -> Found:
    return replace(
        found, passages=[each for each, _ in scored], scores=[score for _, score in scored]
    )
