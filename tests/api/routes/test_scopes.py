"""No route of the REST interface is open to a token by accident."""

from dataclasses import dataclass

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from api.deps import Allowed
from api.routes import router
from backread.domain import Scope

# They say what the server is and whether it is well, to anybody; figures have their own token.
PUBLIC = {"GET /healthz", "OPTIONS /api/v1/uploads", "GET /metrics"}


@dataclass(frozen=True)
class Endpoint:
    """A method of a path, with the permissions of every principal that it is handed."""

    name: str
    scopes: tuple[frozenset[Scope], ...]

    def __str__(self) -> str:
        return self.name


def endpoints() -> list[Endpoint]:
    found = []
    for context in iter_route_contexts(router.routes):
        assert isinstance(context.original_route, APIRoute), context.path
        scopes = tuple(declared_scopes(context.dependant))
        found += [Endpoint(f"{method} {context.path}", scopes) for method in context.methods or ()]
    return sorted(found, key=str)


def declared_scopes(dependant: Dependant) -> list[frozenset[Scope]]:
    own = [dependant.call.scopes] if isinstance(dependant.call, Allowed) else []
    return own + [found for each in dependant.dependencies for found in declared_scopes(each)]


@pytest.mark.parametrize("endpoint", endpoints(), ids=str)
def test_every_route_declares_the_permission_that_it_needs(endpoint: Endpoint) -> None:
    if endpoint.name in PUBLIC:
        assert endpoint.scopes == ()
        return
    assert len(endpoint.scopes) == 1, "give the route one of the principals of api/deps.py"
    assert endpoint.scopes[0]


def test_permissions_to_read_change_nothing() -> None:
    reading = {Scope.CHAT_HISTORY_READ, Scope.MEMORY_READ}
    writers = {
        endpoint.name
        for endpoint in endpoints()
        if endpoint.name.split()[0] not in {"GET", "HEAD", "OPTIONS"}
        and any(scopes <= reading for scopes in endpoint.scopes)
    }
    assert writers == {"POST /api/v1/export"}  # a POST because it costs a lot
