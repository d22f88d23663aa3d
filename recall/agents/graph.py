"""The graph of an account's sessions, as it is handed out."""

from pydantic import Field

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.store.repositories import graph as store
from recall.agents.graphing import EDGE_TYPES, NODE_TYPES
from recall.wire import ResultModel

MOST_ROWS = 500


class GraphStats(ResultModel):
    """How much there is; everything is 0 while the graph is turned off."""

    total_nodes: int
    total_edges: int
    nodes_by_type: dict[str, int]
    edges_by_type: dict[str, int]


class Node(ResultModel):
    type: str
    name: str
    count: int = Field(description="How often it is named.")
    sessions: int


class Edge(ResultModel):
    type: str
    source_type: str
    source: str
    target_type: str
    target: str
    count: int
    sessions: int


class NodeEvidence(ResultModel):
    session_id: str
    message_id: str = Field(description="Where it is named first in the session.")
    count: int


def graph_stats(kernel: Kernel, principal: Principal) -> GraphStats:
    if not kernel.settings.graph_extraction_enabled:
        return GraphStats(total_nodes=0, total_edges=0, nodes_by_type={}, edges_by_type={})
    with kernel.store.read() as session:
        nodes = store.nodes_by_type(session, principal.account_id)
        edges = store.edges_by_type(session, principal.account_id)
    return GraphStats(
        total_nodes=sum(nodes.values()),
        total_edges=sum(edges.values()),
        nodes_by_type=nodes,
        edges_by_type=edges,
    )


def list_nodes(
    kernel: Kernel, principal: Principal, *, kind: str = "", offset: int = 0, limit: int = 100
) -> list[Node]:
    """Entities, those that are named most first. Raises InvalidInput for an unknown type."""
    _check(kernel, kind, NODE_TYPES)
    with kernel.store.read() as session:
        rows = store.list_nodes(
            session, principal.account_id, kind=kind, offset=offset, limit=limit
        )
    return [
        Node(type=row.type, name=row.name, count=row.count, sessions=row.sessions) for row in rows
    ]


def list_edges(
    kernel: Kernel, principal: Principal, *, relation: str = "", offset: int = 0, limit: int = 100
) -> list[Edge]:
    """Relations, those that occur most first. Raises InvalidInput for an unknown type."""
    _check(kernel, relation, EDGE_TYPES)
    with kernel.store.read() as session:
        rows = store.list_edges(
            session, principal.account_id, relation=relation, offset=offset, limit=limit
        )
    return [
        Edge(
            type=row.relation,
            source_type=row.source_type,
            source=row.source,
            target_type=row.target_type,
            target=row.target,
            count=row.count,
            sessions=row.sessions,
        )
        for row in rows
    ]


def evidence_of(
    kernel: Kernel, principal: Principal, kind: str, name: str, *, limit: int = 100
) -> list[NodeEvidence]:
    """The sessions that name an entity, and where, the newest first."""
    _check(kernel, kind, NODE_TYPES)
    with kernel.store.read() as session:
        rows = store.evidence_of(session, principal.account_id, kind, name, limit=limit)
    return [NodeEvidence(session_id=row[0], message_id=row[1], count=row[2]) for row in rows]


def _check(kernel: Kernel, kind: str, kinds: tuple[str, ...]) -> None:
    if not kernel.settings.graph_extraction_enabled:
        raise InvalidInput(
            "The graph is turned off.",
            hint="Set BACKREAD_GRAPH_EXTRACTION_ENABLED=true and restart the server.",
        )
    if kind and kind not in kinds:
        raise InvalidInput(f"There is no type “{kind}”.", hint=f"One of: {', '.join(kinds)}.")
