"""Which conversations have something in a span of time, without a word to look for."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, func, select

from backread.domain import Role
from backread.store.engine import ReadSession
from backread.store.models import Passage
from backread.store.repositories.retrieval import PassageFilter


@dataclass(frozen=True, slots=True)
class Stay:
    """One conversation inside the span: where its first passage of the user stands there (or its
    first of anybody), and from when to when it was talked in."""

    conversation_id: str
    position: int
    first_at: datetime
    last_at: datetime
    passages: int


def stays_within(
    session: ReadSession, wanted: PassageFilter, *, limit: int, offset: int = 0
) -> list[Stay]:
    """In the order in which they begin inside the span. Undated passages lie in none."""
    said_by_user = case((Passage.role == Role.USER, Passage.position))
    first_at = func.min(Passage.occurred_at)
    rows = session.execute(
        select(
            Passage.conversation_id,
            func.coalesce(func.min(said_by_user), func.min(Passage.position)),
            first_at,
            func.max(Passage.occurred_at),
            func.count(),
        )
        .where(*wanted.conditions(), Passage.occurred_at.is_not(None))
        .group_by(Passage.conversation_id)
        .order_by(first_at, Passage.conversation_id)
        .limit(limit)
        .offset(offset)
    )
    return [Stay(*row) for row in rows]


def count_stays(session: ReadSession, wanted: PassageFilter) -> int:
    """How many conversations have something in the span."""
    query = select(func.count(Passage.conversation_id.distinct())).where(
        *wanted.conditions(), Passage.occurred_at.is_not(None)
    )
    return session.scalars(query).one()
