"""No form, of today or later, can be sent from another site."""

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from api.app import create_app
from api.deps import check_csrf
from backread.settings import Settings

# Clients call these without a browser's cookies.
WITHOUT_COOKIES = {"/register", "/token", "/revoke"}
# Bound to the consent that it answers: see test_consent.
BY_ITSELF = {"/authorize"}


def changing_routes() -> dict[str, Dependant]:
    found = {}
    for context in iter_route_contexts(create_app(Settings()).routes):
        if isinstance(context.original_route, APIRoute):
            for method in set(context.methods or ()) - {"GET", "HEAD", "OPTIONS"}:
                found[f"{method} {context.path}"] = context.dependant
    return found


def checks(dependant: Dependant) -> bool:
    return dependant.call is check_csrf or any(checks(each) for each in dependant.dependencies)


@pytest.mark.parametrize(
    ("name", "dependant"),
    changing_routes().items(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_route_that_changes_something_checks_where_a_form_comes_from(
    name: str, dependant: Dependant
) -> None:
    assert checks(dependant) != (name.split()[1] in WITHOUT_COOKIES | BY_ITSELF)
