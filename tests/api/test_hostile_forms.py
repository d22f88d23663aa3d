"""Forms filled with what no person would type, on both databases: never a failure of the server."""

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.testclient import TestClient

from api.accounts.limits import SignInLimits
from tests.api.conftest import PASSWORD
from tests.api.web.test_entry import form_token

HOSTILE = {
    "a NUL": "a\x00b",
    "half a pair": b"\xed\xa0\x80",
    "a long text": "\u00e9" * 9_000,
    "turned around": "\u202e gnp.exe \u2066",
    "a bomb": "\U0001f4a3" * 300,
    "a format": "%s{0.__class__}${7*7}{{7*7}}",
    "white space": " \t\u2028\u00a0\ufeff",
    "nothing": "",
    "a huge number": "9" * 5_000,
}


def fields_of(dependant: Dependant) -> set[str]:
    own = {field.alias for field in dependant.body_params}
    return own.union(*(fields_of(each) for each in dependant.dependencies))


def forms(app: FastAPI) -> dict[str, set[str]]:
    """Pages that take a form, with its fields."""
    found = {}
    for context in iter_route_contexts(app.routes):
        is_form = isinstance(context.original_route, APIRoute) and "POST" in (context.methods or ())
        if is_form and not str(context.path).startswith("/api/"):
            found[str(context.path)] = fields_of(context.dependant)
    return found


def test_hostile_fields_are_answered_in_words(
    signed_in: TestClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SignInLimits, "take", lambda self, address: None)
    token = form_token(signed_in.get("/settings").text)
    tried = forms(app)
    assert tried["/join"] == {"token", "email", "password", "display_name", "timezone"}
    for path in ("/sign-out", "/connections/examination"):
        del tried[path]
    for path, fields in tried.items():
        for name, value in HOSTILE.items():
            form = {**dict.fromkeys(fields, value), "csrf_token": token}
            if "current_password" in fields:
                form["current_password"] = PASSWORD  # so that what follows it is reached
            answer = signed_in.post(path.replace("{", "").replace("}", ""), data=form)
            assert answer.status_code < 500, (path, name, answer.text)
