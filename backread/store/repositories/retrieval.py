"""Reads that recall needs: where passages stand, what they say, and which hold given words."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, column, exists, func, or_, select, table, text
from sqlalchemy.dialects.postgresql import TSVECTOR

from backread.store.engine import ReadSession
from backread.store.fulltext import WordQuery
from backread.store.models import Conversation, Passage
from backread.store.repositories.passages import not_indexed

_IDS_PER_STATEMENT = 900


@dataclass(frozen=True, slots=True)
class PassageFilter:
    """Which passages may be found. Times are inclusive; a passage without a time matches no
    filter that has one."""

    account_id: str
    after: datetime | None = None
    before: datetime | None = None
    platforms: tuple[str, ...] = ()

    def conditions(self) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = [Passage.account_id == self.account_id]
        if self.after is not None:
            found.append(Passage.occurred_at >= self.after)
        if self.before is not None:
            found.append(Passage.occurred_at <= self.before)
        if self.platforms:
            found.append(
                Passage.conversation_id.in_(
                    select(Conversation.id).where(
                        Conversation.account_id == self.account_id,
                        Conversation.platform.in_(self.platforms),
                    )
                )
            )
        return found


@dataclass(frozen=True, slots=True)
class PassagePlace:
    id: int
    conversation_id: str
    position: int
    role: str
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage with what a citation of it shows."""

    id: int
    conversation_id: str
    message_id: str
    position: int
    role: str
    heading: str
    text: str
    token_count: int
    occurred_at: datetime | None
    title: str
    platform: str
    url: str
    first_message_at: datetime | None
    last_message_at: datetime | None


def places_of(
    session: ReadSession, account_id: str, ids: Collection[int]
) -> dict[int, PassagePlace]:
    """Where passages stand. Ids that are gone or another account's are left out."""
    found: dict[int, PassagePlace] = {}
    ordered = list(ids)
    for start in range(0, len(ordered), _IDS_PER_STATEMENT):
        query = select(
            Passage.id,
            Passage.conversation_id,
            Passage.position,
            Passage.role,
            Passage.occurred_at,
        ).where(
            Passage.id.in_(ordered[start : start + _IDS_PER_STATEMENT]),
            Passage.account_id == account_id,
        )
        for row in session.execute(query):
            found[row.id] = PassagePlace(*row)
    return found


def passages_at(
    session: ReadSession, account_id: str, places: Collection[tuple[str, int]]
) -> dict[tuple[str, int], FoundPassage]:
    """Passages by (conversation id, position). Places that hold none are left out."""
    by_conversation: dict[str, set[int]] = {}
    for conversation_id, position in places:
        by_conversation.setdefault(conversation_id, set()).add(position)
    wanted = [
        and_(Passage.conversation_id == conversation_id, Passage.position.in_(positions))
        for conversation_id, positions in by_conversation.items()
    ]
    found: dict[tuple[str, int], FoundPassage] = {}
    for start in range(0, len(wanted), 200):
        query = _with_conversation().where(
            Passage.account_id == account_id, or_(*wanted[start : start + 200])
        )
        for row in session.execute(query):
            found[row.conversation_id, row.position] = FoundPassage(*row)
    return found


def passages_by_id(
    session: ReadSession, account_id: str, ids: Sequence[int]
) -> dict[int, FoundPassage]:
    """Passages by id. Ids that are gone or another account's are left out."""
    found: dict[int, FoundPassage] = {}
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        query = _with_conversation().where(
            Passage.account_id == account_id,
            Passage.id.in_(ids[start : start + _IDS_PER_STATEMENT]),
        )
        for row in session.execute(query):
            found[row.id] = FoundPassage(*row)
    return found


def _with_conversation() -> Select[*tuple[Any, ...]]:
    return select(
        Passage.id,
        Passage.conversation_id,
        Passage.message_id,
        Passage.position,
        Passage.role,
        Passage.heading,
        Passage.text,
        Passage.token_count,
        Passage.occurred_at,
        Conversation.title,
        Conversation.platform,
        Conversation.url,
        Conversation.first_message_at,
        Conversation.last_message_at,
    ).join(Conversation, Conversation.id == Passage.conversation_id)


def search_words(
    session: ReadSession,
    wanted: PassageFilter,
    query: WordQuery,
    *,
    limit: int,
    not_indexed_with: str | None = None,
    among: Sequence[int] | None = None,
) -> list[tuple[int, float]]:
    """Passage ids and scores, best first, by full text. Higher is better.

    `not_indexed_with`: only passages that the search index does not have under this signature.
    `among`: only these ids.
    """
    if not query.finds_something:
        return []
    conditions = wanted.conditions()
    if not_indexed_with is not None:
        conditions.append(not_indexed("lexical", not_indexed_with))
    if among is not None:
        conditions.append(Passage.id.in_(among))
    if session.get_bind().dialect.name == "sqlite":
        fts5 = table("passages_fts", column("rowid"))
        statement = (
            select(Passage.id, text("-bm25(passages_fts, 0.0, 1.0, 1.0) AS score"))
            .select_from(Passage)
            .join(fts5, fts5.c.rowid == Passage.id)
            .where(text("passages_fts MATCH :words"), *conditions)
        ).params(words=query.fts5(wanted.account_id))
    else:
        fulltext = table("passages_fts", column("passage_id"), column("words", TSVECTOR))
        terms = text("CAST(:words AS tsquery)")
        statement = (
            select(Passage.id, func.ts_rank(fulltext.c.words, terms, 1).label("score"))
            .select_from(Passage)
            .join(fulltext, fulltext.c.passage_id == Passage.id)
            .where(fulltext.c.words.op("@@")(terms), *conditions)
        ).params(words=query.tsquery())
    ranked = statement.order_by(text("score DESC"), Passage.id.desc()).limit(limit)
    return [(row[0], float(row[1])) for row in session.execute(ranked)]


def has_unindexed(session: ReadSession, account_id: str, signature: str) -> bool:
    """Whether the account has passages that the search index does not have yet."""
    return bool(
        session.scalar(
            select(
                exists().where(not_indexed("lexical", signature), Passage.account_id == account_id)
            )
        )
    )


def count_conversations(session: ReadSession, wanted: PassageFilter) -> tuple[int, int]:
    """Conversations with a passage that the filter lets through, and all of the account's."""
    total = session.scalar(
        select(func.count())
        .select_from(Conversation)
        .where(Conversation.account_id == wanted.account_id)
    )
    if wanted.after is None and wanted.before is None and not wanted.platforms:
        return total or 0, total or 0
    inside = session.scalar(
        select(func.count(Passage.conversation_id.distinct())).where(*wanted.conditions())
    )
    return inside or 0, total or 0
