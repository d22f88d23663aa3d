"""`agentmemory://…`: six resources that agents read to find their way, each a JSON document of how
things are at the moment of the request. Names and fields are the reference contract's."""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from pydantic import BaseModel

from api.mcp_server.resource import JSON, Listed, ListPage, Page, ResourceKind, page_from
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.agents.graph import graph_stats
from recall.agents.projects import list_projects, project_profile, recent_sessions
from recall.agents.state import latest_memories, memory_status
from recall.agents.team import team_profile

_PROFILE = "agentmemory://project/{name}/profile"
_RECENT = "agentmemory://project/{name}/recent"
_TEAM = "agentmemory://team/{id}/profile"


_MOST_NAME = 4500  # characters of an address: 500 of a name, of up to nine each when escaped


class _NamedKind(ResourceKind):
    """A kind whose address holds the name of a directory, which may be long."""

    def match(self, uri: str) -> Mapping[str, str] | None:
        before, _, after = self.address.partition("{name}")
        name = uri.removeprefix(before).removesuffix(after)
        is_whole = uri == before + name + after
        if not is_whole or not 0 < len(name) <= _MOST_NAME or not set(name).isdisjoint("/?#"):
            return None
        return {"name": name}


def _json(value: BaseModel | Sequence[BaseModel]) -> str:
    if isinstance(value, BaseModel):
        return value.model_dump_json(by_alias=True, indent=1)
    dumped = [each.model_dump(mode="json", by_alias=True) for each in value]
    return json.dumps(dumped, ensure_ascii=False, indent=1)


def _status(kernel: Kernel, principal: Principal, _: Mapping[str, str]) -> str:
    return _json(memory_status(kernel, principal))


def _latest(kernel: Kernel, principal: Principal, _: Mapping[str, str]) -> str:
    return _json(latest_memories(kernel, principal))


def _stats(kernel: Kernel, principal: Principal, _: Mapping[str, str]) -> str:
    return _json(graph_stats(kernel, principal))


def _profile(kernel: Kernel, principal: Principal, values: Mapping[str, str]) -> str:
    return _json(project_profile(kernel, principal, unquote(values["name"])))


def _recent(kernel: Kernel, principal: Principal, values: Mapping[str, str]) -> str:
    return _json(recent_sessions(kernel, principal, unquote(values["name"])))


def _team(kernel: Kernel, _: Principal, values: Mapping[str, str]) -> str:
    return _json(team_profile(kernel, unquote(values["id"])))


def _names(kernel: Kernel, principal: Principal) -> list[str]:
    """Of all projects, the one worked on last first; folders of one name are one project."""
    return list(dict.fromkeys(each.name for each in list_projects(kernel, principal)))


def _pages_of(address: str, what: str) -> ListPage:
    def list_page(kernel: Kernel, principal: Principal, after: str, limit: int) -> Page:
        return page_from(
            _names(kernel, principal),
            after,
            limit,
            lambda name: Listed(
                uri=address.format(name=quote(name, safe="")),
                name=f"{name} {what}",
                title=f"{name}: {what}",
            ),
        )

    return list_page


def _list_teams(kernel: Kernel, _: Principal, after: str, limit: int) -> Page:
    team = kernel.settings.team_id
    if not team or after:
        return Page([])
    uri = _TEAM.format(id=quote(team, safe=""))
    return Page([Listed(uri=uri, name="team profile", title=f"Team {team}")])


def _suggest(
    kernel: Kernel, principal: Principal, variable: str, typed: str, known: Mapping[str, str]
) -> Sequence[str]:
    wanted = typed.strip().casefold()
    return [name for name in _names(kernel, principal) if name.casefold().startswith(wanted)]


STATUS = ResourceKind(
    name="agent-memory-status",
    title="Memory status",
    description="How many sessions of coding agents and how many memories there are.",
    address="agentmemory://status",
    scope=Scope.MEMORY_READ,
    read=_status,
    mime_type=JSON,
)
PROFILE = _NamedKind(
    name="project-profile",
    title="Project profile",
    description="What is known of a project: top concepts, most accessed and modified files, "
    "conventions and preferences, recurring patterns, sessions; each with its evidence. Read it "
    "at the start of a session.",
    address=_PROFILE,
    scope=Scope.CHAT_HISTORY_READ,
    read=_profile,
    mime_type=JSON,
    list_page=_pages_of(_PROFILE, "profile"),
    suggest=_suggest,
)
RECENT = _NamedKind(
    name="project-recent",
    title="Recent sessions of a project",
    description="The five latest sessions of a project with their summaries, newest first.",
    address=_RECENT,
    scope=Scope.CHAT_HISTORY_READ,
    read=_recent,
    mime_type=JSON,
    list_page=_pages_of(_RECENT, "recent sessions"),
    suggest=_suggest,
)
LATEST = ResourceKind(
    name="latest-memories",
    title="Latest memories",
    description="The ten memories that were stored or used last, with kind and strength.",
    address="agentmemory://memories/latest",
    scope=Scope.MEMORY_READ,
    read=_latest,
    mime_type=JSON,
)
GRAPH = ResourceKind(
    name="graph-stats",
    title="Knowledge graph",
    description="How many entities and relations were read out of agents' sessions, by type.",
    address="agentmemory://graph/stats",
    scope=Scope.MEMORY_READ,
    read=_stats,
    mime_type=JSON,
)
TEAM = ResourceKind(
    name="team-profile",
    title="Team",
    description="How much the team of this server shares. memory_team_feed reads it.",
    address=_TEAM,
    scope=Scope.MEMORY_READ,
    read=_team,
    mime_type=JSON,
    list_page=_list_teams,
)
KINDS = (STATUS, PROFILE, RECENT, LATEST, GRAPH, TEAM)
