"""The graph of what agents' sessions are about."""

from dataclasses import dataclass

from sqlalchemy import func, select

from backread.store.engine import ReadSession
from backread.store.models import GraphEntity, GraphRelation


@dataclass(frozen=True, slots=True)
class NodeRow:
    type: str
    name: str
    count: int  # how often it is named
    sessions: int


@dataclass(frozen=True, slots=True)
class EdgeRow:
    relation: str
    source_type: str
    source: str
    target_type: str
    target: str
    count: int
    sessions: int


def nodes_by_type(session: ReadSession, account_id: str) -> dict[str, int]:
    """How many different entities of each type there are."""
    distinct = (
        select(GraphEntity.type, GraphEntity.name)
        .where(GraphEntity.account_id == account_id)
        .distinct()
        .subquery()
    )
    rows = session.execute(select(distinct.c.type, func.count()).group_by(distinct.c.type))
    return dict(sorted((kind, count) for kind, count in rows))


def edges_by_type(session: ReadSession, account_id: str) -> dict[str, int]:
    """How many different pairs of each relation there are."""
    distinct = (
        select(
            GraphRelation.relation,
            GraphRelation.source_type,
            GraphRelation.source,
            GraphRelation.target_type,
            GraphRelation.target,
        )
        .where(GraphRelation.account_id == account_id)
        .distinct()
        .subquery()
    )
    rows = session.execute(select(distinct.c.relation, func.count()).group_by(distinct.c.relation))
    return dict(sorted((kind, count) for kind, count in rows))


def list_nodes(
    session: ReadSession, account_id: str, *, kind: str = "", offset: int, limit: int
) -> list[NodeRow]:
    """Entities, those that are named most first."""
    total = func.sum(GraphEntity.count)
    query = (
        select(GraphEntity.type, GraphEntity.name, total, func.count())
        .where(GraphEntity.account_id == account_id)
        .group_by(GraphEntity.type, GraphEntity.name)
        .order_by(total.desc(), GraphEntity.type, GraphEntity.name)
        .offset(offset)
        .limit(limit)
    )
    if kind:
        query = query.where(GraphEntity.type == kind)
    return [NodeRow(*row) for row in session.execute(query)]


def list_edges(
    session: ReadSession, account_id: str, *, relation: str = "", offset: int, limit: int
) -> list[EdgeRow]:
    """Relations, those that occur most first."""
    key = (
        GraphRelation.relation,
        GraphRelation.source_type,
        GraphRelation.source,
        GraphRelation.target_type,
        GraphRelation.target,
    )
    total = func.sum(GraphRelation.count)
    query = (
        select(*key, total, func.count())
        .where(GraphRelation.account_id == account_id)
        .group_by(*key)
        .order_by(total.desc(), *key)
        .offset(offset)
        .limit(limit)
    )
    if relation:
        query = query.where(GraphRelation.relation == relation)
    return [EdgeRow(*row) for row in session.execute(query)]


def evidence_of(
    session: ReadSession, account_id: str, kind: str, name: str, *, limit: int
) -> list[tuple[str, str, int]]:
    """Conversation and message where an entity is named, and how often, the newest first."""
    rows = session.execute(
        select(GraphEntity.conversation_id, GraphEntity.message_id, GraphEntity.count)
        .where(
            GraphEntity.account_id == account_id,
            GraphEntity.type == kind,
            GraphEntity.name == name,
        )
        .order_by(GraphEntity.conversation_id.desc())
        .limit(limit)
    )
    return [(conversation, message, count) for conversation, message, count in rows]
