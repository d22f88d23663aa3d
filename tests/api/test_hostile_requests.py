"""Requests that mean harm, on both databases, which refuse different things."""

import pytest
from starlette.testclient import TestClient

from tests.api.web.pages import csrf_of


@pytest.mark.parametrize("text", ["a\x00b", "\x00"])
def test_what_a_database_cannot_store_is_the_senders_mistake(
    signed_in: TestClient, text: str
) -> None:
    for path in ("/search", "/api/v1/search", "/conversations", "/api/v1/conversations", "/c/x"):
        params = dict.fromkeys(("q", "platform", "project", "at", "after", "cursor"), text)
        assert signed_in.get(path, params=params).status_code < 500, path
    for path in ("/sign-in", "/settings", "/token", "/register", "/revoke", "/authorize"):
        fields = ("email", "password", "display_name", "timezone", "client_id", "token", "code")
        form = dict.fromkeys(fields, text) | {"grant_type": "refresh_token"}
        headers = {"X-CSRF-Token": csrf_of(signed_in)}
        assert signed_in.post(path, data=form, headers=headers).status_code < 500, path
