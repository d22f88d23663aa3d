"""An AI client's side of the sign-in, step by step, so that a test can bend any step."""

import base64
import hashlib
import html
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

LOOPBACK_REDIRECT = "http://127.0.0.1:33418/callback"
ALL_SCOPES = "memory:read memory:write chat-history:read"


def registration(**changes: Any) -> dict[str, Any]:
    """What a command-line client registers with, changed as told. None leaves a field out."""
    body: dict[str, Any] = {
        "client_name": "Trial Client",
        "redirect_uris": [LOOPBACK_REDIRECT],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "application_type": "native",
        **changes,
    }
    return {key: value for key, value in body.items() if value is not None}


def register(browser: httpx2.Client, **changes: Any) -> dict[str, Any]:
    answer = browser.post("/register", json=registration(**changes))
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def s256(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass
class Flow:
    """One sign-in of one client. `browser` must be signed in for the consent page."""

    browser: httpx2.Client
    client_id: str
    redirect_uri: str = LOOPBACK_REDIRECT
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    state: str = "st4te"

    def query(self, **changes: Any) -> dict[str, Any]:
        """The parameters of the authorization request; None leaves one out."""
        params: dict[str, Any] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_challenge": s256(self.verifier),
            "code_challenge_method": "S256",
            "state": self.state,
            "scope": ALL_SCOPES,
            "resource": f"{self.browser.base_url}/api/mcp/mcp".replace("//api", "/api"),
            **changes,
        }
        return {key: value for key, value in params.items() if value is not None}

    def authorize(self, **changes: Any) -> httpx2.Response:
        return self.browser.get("/authorize", params=self.query(**changes))

    def consent(
        self, page: httpx2.Response, *, decision: str = "allow", scopes: list[str] | None = None
    ) -> httpx2.Response:
        """Sends the consent page's own form, with its ticked boxes unless told otherwise."""
        assert page.status_code == 200, page.text
        form = form_fields(page.text)
        ticked = form["scope"] if scopes is None else scopes
        data = {
            "consent_id": form["consent_id"][0],
            "csrf_token": form["csrf_token"][0],
            "decision": decision,
            "scope": ticked,
        }
        return self.browser.post("/authorize", data=data, headers=self.own_origin())

    def own_origin(self) -> dict[str, str]:
        return {"Origin": str(self.browser.base_url).rstrip("/")}

    def code(self, *, scopes: list[str] | None = None, **changes: Any) -> str:
        answer = self.consent(self.authorize(**changes), scopes=scopes)
        assert answer.status_code == 303, answer.text
        return answered(answer)["code"]

    def exchange(self, code: str, /, **changes: Any) -> httpx2.Response:
        data: dict[str, Any] = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "client_id": self.client_id,
            "code_verifier": self.verifier,
            **changes,
        }
        form = {key: value for key, value in data.items() if value is not None}
        return self.browser.post("/token", data=form)

    def refresh(self, refresh_token: str, /, **changes: Any) -> httpx2.Response:
        data: dict[str, Any] = {
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
            "client_id": self.client_id,
            **changes,
        }
        form = {key: value for key, value in data.items() if value is not None}
        return self.browser.post("/token", data=form)

    def tokens(self, *, scopes: list[str] | None = None, **changes: Any) -> dict[str, Any]:
        answer = self.exchange(self.code(scopes=scopes, **changes))
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


def new_flow(browser: httpx2.Client, **changes: Any) -> Flow:
    """A freshly registered public client at the start of its sign-in."""
    client = register(browser, **changes)
    return Flow(browser, client["client_id"], redirect_uri=client["redirect_uris"][0])


def answered(redirect: httpx2.Response) -> dict[str, str]:
    """The parameters that a redirect carries to the client."""
    query = parse_qs(urlsplit(redirect.headers["location"]).query, keep_blank_values=True)
    return {name: values[0] for name, values in query.items()}


def form_fields(page: str) -> dict[str, list[str]]:
    """Names and values of a page's inputs, unticked boxes left out."""
    fields: dict[str, list[str]] = {}
    for tag in re.findall(r"<input\b[^>]*>", page):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if attributes.get("type") == "checkbox" and not re.search(r"\bchecked\b", tag):
            continue
        if "name" in attributes:
            value = html.unescape(attributes.get("value", ""))
            fields.setdefault(attributes["name"], []).append(value)
    return fields


def ping(browser: httpx2.Client, token: str | None) -> httpx2.Response:
    """A call of the MCP server that shows whether a token is good there."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return browser.post(
        "/api/mcp/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        headers={**headers, "Accept": "application/json"},
    )


def is_good(browser: httpx2.Client, access_token: str) -> bool:
    answer = ping(browser, access_token)
    assert answer.status_code in {200, 401}
    return answer.status_code == 200
