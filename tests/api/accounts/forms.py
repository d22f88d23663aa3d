"""Sending the forms of the settings pages, as a browser does."""

import re
from typing import Any

import httpx2
from starlette.testclient import TestClient

from tests.api.web.test_entry import form_token


def send(browser: TestClient, page: str, action: str, **fields: Any) -> httpx2.Response:
    """Sends the form `action` of the page `page` with these fields."""
    token = form_token(browser.get(page).text)
    return browser.post(action, data={"csrf_token": token, **fields})


def shown_secret(page: str, pattern: str) -> str:
    found = re.search(pattern, page)
    assert found, page
    return found[0]
