"""Resources on the protocol's side: what a caller sees, reads and is helped to complete."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from starlette.requests import Request

from api.mcp_server.caller import caller
from api.mcp_server.guarding import Guard
from api.mcp_server.resource import Listed, ResourceKind
from api.mcp_server.resources import RESOURCES
from backread.domain import Principal
from backread.kernel import Kernel

_PAGE = 100
# Kinds change with a release only, and what a grant allows does not change at all.
_KINDS_TTL_MS = 300_000
_PRIVATE = "private"


class ResourceDesk:
    """The resources of one process, bound to its kernel."""

    def __init__(
        self, kernel: Kernel, guard: Guard, kinds: tuple[ResourceKind, ...] = RESOURCES
    ) -> None:
        self._kernel = kernel
        self._guard = guard
        self._kinds = kinds

    def kind(self, uri: str) -> ResourceKind | None:
        """The kind that an address, or a template, belongs to."""
        for kind in self._kinds:
            if kind.address == uri or kind.match(uri) is not None:
                return kind
        return None

    async def list_resources(
        self, context: ServerRequestContext[Any, Request], params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """All that the caller's grant allows, kind by kind, 100 at a time."""
        principal = caller(context)
        kinds = [each for each in self._visible(principal) if _is_listed(each)]
        cursor = params.cursor if params is not None and params.cursor else ""
        name, _, after = cursor.partition("~")
        places = [number for number, kind in enumerate(kinds) if kind.name == name]
        if cursor and not places:
            raise MCPError(INVALID_PARAMS, "The cursor is not one that this list gave.")
        found: list[Resource] = []
        following = ""
        for kind in kinds[places[0] if places else 0 :]:
            if len(found) >= _PAGE:
                following = f"{kind.name}~"
                break
            listed, more = await self._listed(kind, principal, after, _PAGE - len(found))
            after = ""
            found += [
                Resource(
                    uri=each.uri,
                    name=each.name,
                    title=each.title,
                    description=each.description or None,
                    mime_type=kind.mime_type,
                )
                for each in listed
            ]
            if more:
                following = f"{kind.name}~{more}"
                break
        return ListResourcesResult(
            resources=found,
            next_cursor=following or None,
            ttl_ms=0,
            cache_scope=_PRIVATE,
        )

    async def _listed(
        self, kind: ResourceKind, principal: Principal, after: str, limit: int
    ) -> tuple[Sequence[Listed], str]:
        """A kind's next resources and where they go on, at most `limit`."""
        list_page = kind.list_page
        if list_page is None:
            return [Listed(kind.address, kind.name, kind.title, kind.description)], ""
        page = await self._guard.run(
            "resources/list",
            principal,
            kind.scope,
            lambda: list_page(self._kernel, principal, after, limit),
        )
        return page.items, page.next

    async def list_templates(
        self, context: ServerRequestContext[Any, Request], _: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """The addresses with variables that the caller's grant allows."""
        return ListResourceTemplatesResult(
            resource_templates=[
                ResourceTemplate(
                    uri_template=each.address,
                    name=each.name,
                    title=each.title,
                    description=each.description,
                    mime_type=each.mime_type,
                )
                for each in self._visible(caller(context))
                if each.is_template
            ],
            ttl_ms=_KINDS_TTL_MS,
            cache_scope=_PRIVATE,
        )

    async def read(
        self, context: ServerRequestContext[Any, Request], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """One resource as text. An address that is no resource, or another account's, is an error
        that says so."""
        kind = self.kind(params.uri)
        values = kind.match(params.uri) if kind is not None else None
        if kind is None or values is None:
            raise MCPError(INVALID_PARAMS, f"Resource not found: {params.uri[:200]}")
        principal = caller(context)
        text = await self._guard.run(
            kind.name, principal, kind.scope, lambda: kind.read(self._kernel, principal, values)
        )
        return ReadResourceResult(
            contents=[TextResourceContents(uri=params.uri, mime_type=kind.mime_type, text=text)],
            ttl_ms=0,
            cache_scope=_PRIVATE,
        )

    async def suggestions(
        self,
        principal: Principal,
        address: str,
        variable: str,
        typed: str,
        known: Mapping[str, str],
    ) -> Sequence[str]:
        """Values for a variable of a template. Raises MCPError for a template that is not ours."""
        kind = next((each for each in self._kinds if each.address == address), None)
        if kind is None or f"{{{variable}}}" not in kind.address:
            raise MCPError(INVALID_PARAMS, "There is no such template, or no such variable in it.")
        if kind.suggest is None:
            return []
        suggest = kind.suggest
        return await self._guard.run(
            kind.name,
            principal,
            kind.scope,
            lambda: suggest(self._kernel, principal, variable, typed, known),
        )

    def _visible(self, principal: Principal) -> list[ResourceKind]:
        return [each for each in self._kinds if each.scope in principal.scopes]


def _is_listed(kind: ResourceKind) -> bool:
    return kind.list_page is not None or not kind.is_template
