"""Stands in for the browser that a command-line client opens: signs in and allows."""

import re

import httpx

from tests.api.oauth.flow import form_fields


def allow(url: str, cookie: str) -> None:
    """Opens an authorization page with a session cookie (`name=value`), allows all that is asked
    for, and follows the redirect to the client's own loopback listener."""
    origin = re.match(r"https?://[^/]+", url)
    assert origin, url
    headers = {"Cookie": cookie, "Origin": origin.group()}
    with httpx.Client(headers=headers, timeout=30) as browser:
        page = browser.get(url)
        page.raise_for_status()
        form = {**form_fields(page.text), "decision": ["allow"]}
        answer = browser.post(f"{origin.group()}/authorize", data=form)
        assert answer.status_code == 303, answer.text
    httpx.get(answer.headers["location"], timeout=30).raise_for_status()
