"""Recalled text is not stored back.

A client that has just read past chats may hand what it read back as a new memory. That would give
old words a new date and a new author, and the next recall would take them for a second witness.
Two things are refused: text that carries the marks of a recalled answer, and text of which two
sentences or more stand word for word in past chats. A single sentence is never refused, so every
fact that a person states can be stored, and a client that names the conversation in which it was
said may quote it, since the memory then leads back to it.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from backread.domain import Principal
from backread.errors import InvalidInput, Unavailable
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.fulltext import words
from backread.store.repositories.retrieval import FoundPassage, passages_at, places_of
from backread.vectors.index import Collection, IndexFilter, IndexQuery
from recall.rendering import FIELDS_NOTICE, NOTICE
from recall.sentences import sentences

_MARKS = re.compile(
    r"<<<\s*recall\s+[0-9a-f]{8,}|recall\s+[0-9a-f]{8,}\s*>>>"
    r"|conversationId\s+[0-9a-hjkmnp-tv-z]{26}\b|\[memory\s+[0-9a-hjkmnp-tv-z]{26}\b",
    re.IGNORECASE,
)
_LEAST_WORDS = 6  # shorter sentences are the same by chance
_MOST_SENTENCES = 8
_PASSAGES_EACH = 4
_FRESH = timedelta(days=1)  # what was said since then is the conversation that goes on


def refuse_recalled(kernel: Kernel, principal: Principal, text: str, *, said_in: str = "") -> None:
    """Raises InvalidInput, with what to do instead. The owner's own writing is never refused;
    `said_in` is the conversation that the client names as the source."""
    if principal.client_id is None:
        return
    if _MARKS.search(text) or NOTICE[:60] in text or FIELDS_NOTICE[:60] in text:
        raise InvalidInput(
            "This is the answer of a recall or a search, not a new memory.",
            hint="It is kept already. Store only what the user states now, in one sentence of "
            "your own.",
        )
    if said_in:
        return
    long_ones = [each for each in sentences(text) if len(words(each)) >= _LEAST_WORDS]
    if len(long_ones) >= 2 and _count_repeated(kernel, principal, long_ones) >= 2:
        raise InvalidInput(
            "Several sentences of this stand word for word in past conversations.",
            hint="They can be recalled from there. Store the fact itself in one sentence of your "
            "own, or give the conversationId in which it was said.",
        )


def _count_repeated(kernel: Kernel, principal: Principal, statements: Sequence[str]) -> int:
    """Those of the statements that an older passage holds word for word. 0 while the index cannot
    be reached: a memory is worth more than this check."""
    asked = statements[:_MOST_SENTENCES]
    within = IndexFilter(account_id=principal.account_id)
    try:
        answers = kernel.index.search(
            Collection.PASSAGES,
            [IndexQuery(filter=within, limit=_PASSAGES_EACH, words=each) for each in asked],
        )
    except Unavailable:
        return 0
    ids = sorted({point.id for points in answers for point in points})
    passages = {each.id: each for each in _old_passages(kernel, principal, ids)}
    return sum(
        any(_holds(passages[point.id].text, statement) for point in points if point.id in passages)
        for statement, points in zip(asked, answers, strict=True)
    )


def _old_passages(kernel: Kernel, principal: Principal, ids: Sequence[int]) -> list[FoundPassage]:
    with kernel.store.read() as session:
        places = places_of(session, principal.account_id, ids).values()
        found = passages_at(
            session,
            principal.account_id,
            [(place.conversation_id, place.position) for place in places],
        )
    since = utcnow() - _FRESH
    return [each for each in found.values() if each.occurred_at is None or each.occurred_at < since]


def _holds(passage: str, statement: str) -> bool:
    """By words, so that neither blanks nor punctuation nor case of letters hide a copy."""
    return f" {' '.join(words(statement))} " in f" {' '.join(words(passage))} "
