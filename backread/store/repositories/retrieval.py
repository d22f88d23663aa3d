"""Reads that recall needs: where passages stand, what they say, and which hold given words."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    String,
    and_,
    cast,
    column,
    exists,
    func,
    literal,
    or_,
    select,
    table,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR

from backread.domain import Role
from backread.store.engine import ReadSession
from backread.store.fulltext import WordQuery
from backread.store.models import Conversation, Passage
from backread.store.repositories.passages import is_of, not_indexed


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


class PassagePlace(NamedTuple):
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
    document: str = ""  # the artifact or attachment that says it; "": the message does


def places_of(
    session: ReadSession, account_id: str, ids: Collection[int], *, timed: bool = True
) -> dict[int, PassagePlace]:
    """Where passages stand. Ids that are gone or another account's are left out. `timed`: with
    their times, which take as long to read as the rest."""
    if not ids:
        return {}
    query = select(
        Passage.id,
        Passage.conversation_id,
        Passage.position,
        Passage.role,
        Passage.occurred_at if timed else literal(None),
    ).where(is_of(account_id), Passage.id.in_(select(_listed(session, list(ids)))))
    # Past the session, which looks at every row for objects of its own: there are thousands.
    rows = session.connection().execute(query).all()
    return {row[0]: PassagePlace._make(row) for row in rows}


def _listed(session: ReadSession, ids: Sequence[int]) -> ColumnElement[int]:
    """The ids as a column: one parameter, where a list after IN would be one each."""
    if session.get_bind().dialect.name == "sqlite":
        value: ColumnElement[int] = func.json_each(json.dumps(ids)).table_valued("value").c.value
        return value
    return func.unnest(cast(list(ids), ARRAY(BigInteger))).column_valued("id")


def passages_at(
    session: ReadSession, account_id: str, places: Collection[tuple[str, int]]
) -> dict[tuple[str, int], FoundPassage]:
    """Passages by (conversation id, position). Places that hold none are left out."""
    if not places:
        return {}
    conversation_id, position = _unrolled(session, list(places))
    query = _with_conversation().where(
        is_of(account_id),
        Passage.conversation_id == conversation_id,
        Passage.position == position,
    )
    rows = session.connection().execute(query).all()
    return {(row.conversation_id, row.position): FoundPassage(*row) for row in rows}


def passages_by_ids(
    session: ReadSession, account_id: str, ids: Sequence[int]
) -> list[FoundPassage]:
    """Passages in the order of the ids. Those that are gone or another account's are left out."""
    if not ids:
        return []
    listed = Passage.id.in_(select(_listed(session, ids)))
    query = _with_conversation().where(is_of(account_id), listed)
    found = {row.id: FoundPassage(*row) for row in session.execute(query)}
    return [found[each] for each in ids if each in found]


_SPREAD, _RANGE = 2_654_435_761, 4_294_967_296  # multiplicative hashing


def sampled_passage_ids(session: ReadSession, account_id: str, *, limit: int) -> list[int]:
    """Ids of passages of the person's own, from all over the archive; the same each time."""
    query = (
        select(Passage.id)
        .where(Passage.account_id == account_id, Passage.role == Role.USER)
        .order_by(Passage.id * _SPREAD % _RANGE, Passage.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def _unrolled(
    session: ReadSession, places: Sequence[tuple[str, int]]
) -> tuple[ColumnElement[str], ColumnElement[int]]:
    """The places as two columns of a table, so that each is looked up by itself in the index
    over places. A list of pairs after IN makes SQLite read the whole table."""
    if session.get_bind().dialect.name == "sqlite":
        value = func.json_each(json.dumps(places)).table_valued("value").c.value
        return func.json_extract(value, "$[0]"), func.json_extract(value, "$[1]")
    conversation_ids, positions = zip(*places, strict=True)
    unnested = func.unnest(
        cast(list(conversation_ids), ARRAY(String)), cast(list(positions), ARRAY(Integer))
    )
    # Derived: PostgreSQL itself names both columns after the function.
    listed = unnested.table_valued("conversation_id", "position").render_derived()
    return listed.c.conversation_id, listed.c.position


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
        Passage.document,
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
        session.scalar(select(exists().where(not_indexed("lexical", signature), is_of(account_id))))
    )


def count_conversations(session: ReadSession, wanted: PassageFilter) -> tuple[int, int]:
    """Conversations with a passage that the filter lets through, and all of the account's."""
    own = Conversation.account_id == wanted.account_id
    total = session.scalar(select(func.count()).select_from(Conversation).where(own)) or 0
    if wanted.after is None and wanted.before is None and not wanted.platforms:
        return total, total
    has_window = wanted.after is not None or wanted.before is not None
    conditions = [own, _may_hold(wanted) if has_window else Conversation.message_count > 0]
    if wanted.platforms:
        conditions.append(Conversation.platform.in_(wanted.platforms))
    inside = session.scalar(select(func.count()).select_from(Conversation).where(*conditions))
    return inside or 0, total


def _may_hold(wanted: PassageFilter) -> ColumnElement[bool]:
    """Condition: the conversation has a passage in the window. A conversation that lies inside
    it as a whole does; only of those across its borders, or without times of their own, are the
    passages looked at, because looking at all of them takes a tenth of a second."""
    first, last = Conversation.first_message_at, Conversation.last_message_at
    lies_inside = [Conversation.message_count > 0, first.is_not(None)]
    touches = []
    if wanted.after is not None:
        lies_inside.append(first >= wanted.after)
        touches.append(last >= wanted.after)
    if wanted.before is not None:
        lies_inside.append(last <= wanted.before)
        touches.append(first <= wanted.before)
    within = [Passage.conversation_id == Conversation.id]
    if wanted.after is not None:
        within.append(Passage.occurred_at >= wanted.after)
    if wanted.before is not None:
        within.append(Passage.occurred_at <= wanted.before)
    holds = exists().where(*within)
    return or_(and_(*lies_inside), and_(or_(first.is_(None), and_(*touches)), holds))
