"""Projects of coding agents, the graph of their sessions, and the team's feed, for scripts."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from api.deps import CsrfDep, HistoryReaderDep, KernelDep, MemoryReaderDep, MemoryWriterDep
from recall.agents import graph, team
from recall.agents.graph import Edge, GraphStats, Node, NodeEvidence
from recall.agents.projects import (
    ProjectListed,
    ProjectProfile,
    RecentSession,
    list_projects,
    project_profile,
    recent_sessions,
)
from recall.agents.team import DEFAULT_ITEMS, MAX_ITEMS, SharedResult, TeamFeed

_Offset = Annotated[int, Query(ge=0)]
_Limit = Annotated[int, Query(ge=1, le=graph.MOST_ROWS)]

router = APIRouter(tags=["agents"])


class ProjectList(BaseModel):
    items: list[ProjectListed]


class RecentSessions(BaseModel):
    items: list[RecentSession]


class NodeList(BaseModel):
    items: list[Node]


class EdgeList(BaseModel):
    items: list[Edge]


class EvidenceList(BaseModel):
    items: list[NodeEvidence]


class ShareIn(BaseModel):
    """One of the two."""

    memory_id: str | None = Field(None, max_length=64)
    text: str | None = Field(None, max_length=20_000)


@router.get("/projects")
def get_projects(kernel: KernelDep, principal: HistoryReaderDep) -> ProjectList:
    """Folders that coding agents worked in, the latest first."""
    return ProjectList(items=list_projects(kernel, principal))


@router.get("/projects/profile")
def get_profile(
    kernel: KernelDep,
    principal: HistoryReaderDep,
    name: Annotated[str, Query(min_length=1, max_length=500, description="Directory or path.")],
) -> ProjectProfile:
    """What is known of a project, each statement with its evidence."""
    return project_profile(kernel, principal, name)


@router.get("/projects/recent")
def get_recent(
    kernel: KernelDep,
    principal: HistoryReaderDep,
    name: Annotated[str, Query(min_length=1, max_length=500, description="Directory or path.")],
) -> RecentSessions:
    """Its five latest sessions with their summaries."""
    return RecentSessions(items=recent_sessions(kernel, principal, name))


@router.get("/graph")
def get_graph(kernel: KernelDep, principal: HistoryReaderDep) -> GraphStats:
    """How many entities and relations there are, by type."""
    return graph.graph_stats(kernel, principal)


@router.get("/graph/nodes")
def get_nodes(
    kernel: KernelDep,
    principal: HistoryReaderDep,
    type: Annotated[str, Query(max_length=32)] = "",
    offset: _Offset = 0,
    limit: _Limit = 100,
) -> NodeList:
    """Entities, those that are named most first."""
    found = graph.list_nodes(kernel, principal, kind=type, offset=offset, limit=limit)
    return NodeList(items=found)


@router.get("/graph/edges")
def get_edges(
    kernel: KernelDep,
    principal: HistoryReaderDep,
    type: Annotated[str, Query(max_length=32)] = "",
    offset: _Offset = 0,
    limit: _Limit = 100,
) -> EdgeList:
    """Relations, those that occur most first."""
    found = graph.list_edges(kernel, principal, relation=type, offset=offset, limit=limit)
    return EdgeList(items=found)


@router.get("/graph/evidence")
def get_evidence(
    kernel: KernelDep,
    principal: HistoryReaderDep,
    type: Annotated[str, Query(max_length=32)],
    name: Annotated[str, Query(min_length=1, max_length=300)],
    limit: _Limit = 100,
) -> EvidenceList:
    """The sessions that name an entity, and the message where they do first."""
    return EvidenceList(items=graph.evidence_of(kernel, principal, type, name, limit=limit))


@router.get("/team/items")
def get_team_items(
    kernel: KernelDep,
    principal: MemoryReaderDep,
    limit: Annotated[int, Query(ge=1, le=MAX_ITEMS)] = DEFAULT_ITEMS,
    cursor: Annotated[str, Query(max_length=64)] = "",
) -> TeamFeed:
    """What the people of this server have shared, the latest first."""
    return team.feed(kernel, principal, limit=limit, cursor=cursor)


@router.post("/team/items", status_code=201, dependencies=[CsrfDep])
def post_team_item(kernel: KernelDep, principal: MemoryWriterDep, wanted: ShareIn) -> SharedResult:
    """Shares a copy of a memory, or a statement, with all of them."""
    return team.share(kernel, principal, memory_id=wanted.memory_id, text=wanted.text)


@router.delete("/team/items/{item_id}", status_code=204, dependencies=[CsrfDep])
def delete_team_item(kernel: KernelDep, principal: MemoryWriterDep, item_id: str) -> None:
    """Takes an item of one's own back."""
    team.take_back(kernel, principal, item_id)
