"""Every way into the server, read from the tables that the server itself is made of: routes of the
application, tools, resources and prompts. What is added there is attacked without a word here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.routing import BaseRoute

from api.folder_server.tools import TOOLS as FOLDER_TOOLS
from api.mcp_server.prompts import PROMPTS
from api.mcp_server.resources import RESOURCES
from api.mcp_server.tool import Tool
from api.mcp_server.tools import TOOLS
from api.notes_server.tools import tools_of
from api.oauth.resources import FOLDER_PATH, NOTES_PATH, RECALL_PATH
from backread.settings import Settings

# These end what the attack itself stands on, ask other servers, or know no accounts.
LEFT_OUT = (
    "/sign-out",
    "/settings/sessions/end-others",
    "/connections/examination",
    "/static/",
    "/favicon.ico",
    "/.well-known/",
    "/register",
    "/authorize",
    "/token",
    "/revoke",
    "/sign-in",
    "/setup",
    "/join",
    "/healthz",
    "/metrics",
    # A password is asked for first, and checking one is slow on purpose.
    "/settings/password",
    "/settings/app",
    "/settings/passkeys/options",
)


@dataclass(frozen=True)
class Field:
    """One value that a request takes. `where`: path, query, form or json. `of`: whose id it is,
    where the name does not say so."""

    name: str
    where: str
    schema: dict[str, Any]
    of: str = ""


@dataclass(frozen=True)
class Door:
    """One route and method, tool, resource or prompt. `path` is its template."""

    kind: str  # page, rest, tool, resource, prompt
    method: str
    path: str
    name: str
    fields: tuple[Field, ...]

    @property
    def title(self) -> str:
        return f"{self.method} {self.path} {self.name}".strip()

    @property
    def is_read_only(self) -> bool:
        return self.method in {"GET", "HEAD"} or self.kind in {"resource", "prompt"}


def routes_of(routes: Sequence[BaseRoute], prefix: str = "") -> Iterator[tuple[str, APIRoute]]:
    """All routes with their whole paths."""
    for route in routes:
        if isinstance(route, APIRoute):
            yield prefix + route.path, route
        router = getattr(route, "original_router", None)
        if isinstance(router, APIRouter):
            inner = getattr(route, "include_context").prefix  # noqa: B009
            yield from routes_of(router.routes, prefix + inner)


def web_doors(app: FastAPI) -> list[Door]:
    """Routes of pages and of the REST interface. Fails when one of the OpenAPI description is not
    among them."""
    doors = []
    paths = set()
    for path, route in routes_of(app.routes):
        paths.add(path.replace(":path}", "}"))
        if path.startswith(LEFT_OUT):
            continue
        kind = "rest" if path.startswith("/api/") else "page"
        fields = tuple(_fields(route))
        for method in sorted((route.methods or set()) - {"OPTIONS"}):
            doors.append(Door(kind, method, path, "", fields))
    described = set(app.openapi()["paths"])
    assert described <= paths, described - paths
    return doors


def _fields(route: APIRoute) -> Iterator[Field]:
    waiting = [route.dependant]
    while waiting:
        dependant = waiting.pop()
        waiting += dependant.dependencies
        for where, params in (
            ("path", dependant.path_params),
            ("query", dependant.query_params),
            ("form", dependant.body_params),
        ):
            for param in params:
                kind: Any = param.field_info.annotation
                schema = TypeAdapter(kind).json_schema()
                if where == "form" and schema.get("type") == "object":
                    yield from _members(schema)
                else:
                    yield Field(param.alias, where, schema)


def _members(schema: dict[str, Any]) -> Iterator[Field]:
    for name, inner in schema.get("properties", {}).items():
        yield Field(name, "json", inner | {"$defs": schema.get("$defs", {})})


def tool_doors(settings: Settings) -> list[Door]:
    """Tools of all three servers, and what else the recall server offers."""
    served: tuple[tuple[str, Sequence[Tool]], ...] = (
        (RECALL_PATH, [tool for tool in TOOLS if tool.is_offered(settings)]),
        (NOTES_PATH, tools_of(settings)),
        (FOLDER_PATH, FOLDER_TOOLS),
    )
    doors = []
    for path, tools in served:
        for tool in tools:
            fields = tuple(_members(tool.definition().input_schema))
            method = "GET" if tool.is_read_only else "POST"
            doors.append(Door("tool", method, path, tool.name, fields))
    for kind in RESOURCES:
        found = re.findall(r"([a-z]+)/\{(\w+)\}", kind.address)
        fields = tuple(Field(name, "path", {"type": "string"}, before) for before, name in found)
        doors.append(Door("resource", "GET", RECALL_PATH, kind.address, fields))
    for prompt in PROMPTS:
        fields = tuple(Field(each.name, "json", {"type": "string"}) for each in prompt.parameters)
        doors.append(Door("prompt", "GET", RECALL_PATH, prompt.name, fields))
    return doors
