"""One client's whole way in, as its profile says: register, ask, sign in, call, refresh, leave.

Everything goes over HTTP but the person's consent, for which the one who asked for the
examination stands: their answer is written as the consent page would write it.
"""

import base64
import secrets
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from api.doctor.address import found
from api.doctor.findings import Finding
from api.doctor.probe import PROXY_PATHS, Probe, Trouble, json_of
from api.doctor.profiles import ClientProfile
from api.oauth import resources
from api.oauth.consent import issue_code
from api.oauth.scopes import ALL_SCOPES
from api.oauth.token import s256
from backread.domain import Principal
from backread.identity import new_id
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import ReadSession
from backread.store.models import OAuthClient, OAuthConsent
from backread.store.repositories import oauth

_MODERN = "2026-07-28"
_GRANT_LIFE = timedelta(minutes=10)
_META = {
    "io.modelcontextprotocol/protocolVersion": _MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "connection-check", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_ACCEPT = {"Accept": "application/json, text/event-stream"}


class Walk:
    """Use it once: `findings` walks, `clean_up` removes what the walk registered."""

    def __init__(
        self,
        kernel: Kernel,
        principal: Principal,
        origin: str,
        profile: ClientProfile,
        headers: dict[str, str],
    ) -> None:
        agent = {"User-Agent": profile.user_agent} if profile.user_agent else {}
        self._probe = Probe(origin, headers=headers | agent)
        self._kernel = kernel
        self._principal = principal
        self._profile = profile
        # Tells this walk's clients from all others: of two checks at once neither meets, nor
        # removes, the other's, and what answers cannot name a real client in their place.
        self._mark = new_id()
        self._verifier = secrets.token_urlsafe(48)
        self._clients: list[str] = []
        self._secret = ""
        self._auth_method = ""
        self._tokens: dict[str, Any] = {}

    def findings(self) -> Iterator[Finding]:
        """What follows a failure is skipped: each step needs the one before it."""
        has_failed = False
        for name, title, step in self._steps():
            if has_failed:
                yield Finding(check=name, title=title, state="skipped")
                continue
            finding = found(name, title, step)
            has_failed = finding.state == "failed"
            yield finding

    def _steps(self) -> tuple[tuple[str, str, Callable[[], None]], ...]:
        return (
            ("register", "It can register", self._register),
            ("authorize", "Its person is asked to sign in", self._authorize),
            ("token", "It gets its tokens", self._exchange),
            ("tools", "It can list the tools", self._list_tools),
            ("refresh", "It can renew its access", self._refresh),
            ("revoke", "It can give its access back", self._revoke),
        )

    def clean_up(self) -> None:
        """Forgets the clients that the walk registered, with all that hangs on them."""
        self._probe.close()
        with self._kernel.store.write() as session:
            for client_id in dict.fromkeys(self._clients):
                client = self._own_client(session, client_id)
                if client is not None:
                    session.delete(client)

    def _own_client(self, session: ReadSession, client_id: str) -> OAuthClient | None:
        client = oauth.find_client(session, client_id)
        is_own = client is not None and client.metadata_.get("software_id") == self._mark
        return client if is_own else None

    def _register(self) -> None:
        for _ in range(self._profile.registers):
            registration = {**self._profile.registration(), "software_id": self._mark}
            body = self._probe.json("POST", "/register", status=201, json=registration)
            self._clients.append(str(body.get("client_id", "")))
        self._secret = str(body.get("client_secret", ""))
        self._auth_method = str(body.get("token_endpoint_auth_method", ""))

    def _authorize(self) -> None:
        """Without a browser session, as mcp-remote and link previews ask it."""
        answer = self._probe.send("GET", f"/authorize?{urlencode(self._request())}")
        location = answer.headers.get("location", "")
        target = urlsplit(location)
        if not answer.is_redirect or target.path not in {"/sign-in", "/setup"}:
            raise Trouble(
                f"The sign-in page is not what /authorize leads to (status {answer.status_code}).",
                PROXY_PATHS,
            )
        if target.netloc and f"{target.scheme}://{target.netloc}" != self._identity:
            raise Trouble(
                f"The proxy changes the address of the sign-in page to {location[:200]}.",
                "Switch its rewriting of Location headers off (nginx: proxy_redirect off).",
            )
        if "/authorize" not in parse_qs(target.query).get("next", ["/authorize"])[0]:
            raise Trouble("The sign-in page forgets where to go back to.", PROXY_PATHS)

    @property
    def _identity(self) -> str:
        return resources.issuer(self._kernel.settings)

    def _request(self) -> dict[str, str]:
        return {
            "response_type": "code",
            "client_id": self._clients[-1],
            "redirect_uri": self._profile.redirect_uris[0],
            "code_challenge": s256(self._verifier),
            "code_challenge_method": "S256",
            "state": "check",
            "scope": " ".join(scope.value for scope in ALL_SCOPES) + " offline_access",
            "resource": resources.recall_resource(self._kernel.settings),
        }

    def _consent(self) -> str:
        """A code, for a grant that ends soon by itself: should this process die before `clean_up`,
        nobody can use what it leaves behind, and `delete_ended` forgets it."""
        scopes = [scope.value for scope in ALL_SCOPES]
        longest = timedelta(days=self._kernel.settings.refresh_token_absolute_days)
        consent = OAuthConsent(
            account_id=self._principal.account_id,
            client_id=self._clients[-1],
            request={
                "redirect_uri": self._profile.redirect_uris[0],
                "code_challenge": s256(self._verifier),
                "resource": resources.recall_resource(self._kernel.settings),
            },
            expires_at=utcnow(),
        )
        with self._kernel.store.write() as session:
            if self._own_client(session, self._clients[-1]) is None:
                raise Trouble(
                    "The client that has just registered is not in this server's database.",
                    "Another server with a database of its own answers at this address. Check "
                    "where the name and the proxy lead to.",
                )
            code = issue_code(session, consent, scopes)
            oauth.date_grants(
                session, self._clients[-1], created_at=utcnow() - longest + _GRANT_LIFE
            )
            return code

    def _exchange(self) -> None:
        self._tokens = self._ask_for_tokens(
            {
                "grant_type": "authorization_code",
                "code": self._consent(),
                "redirect_uri": self._profile.redirect_uris[0],
                "code_verifier": self._verifier,
                "resource": resources.recall_resource(self._kernel.settings),
            }
        )

    def _refresh(self) -> None:
        """Twice with one token, as two processes of one client do."""
        asked = {"grant_type": "refresh_token", "refresh_token": self._tokens["refresh_token"]}
        first = self._ask_for_tokens(asked)
        second = self._ask_for_tokens(asked)
        for tokens in (first, second):
            self._tokens = tokens
            self._list_tools()

    def _ask_for_tokens(self, form: dict[str, str]) -> dict[str, Any]:
        form, headers = self._credentials(form)
        body = self._probe.json("POST", "/token", data=form, headers=headers)
        if not {"access_token", "refresh_token", "expires_in"} <= body.keys():
            raise Trouble("The answer to /token lacks a token.", PROXY_PATHS)
        return body

    def _credentials(self, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        client_id = self._clients[-1]
        if self._auth_method == "client_secret_basic":
            pair = base64.b64encode(f"{client_id}:{self._secret}".encode()).decode()
            return form, {"Authorization": f"Basic {pair}"}
        form = {**form, "client_id": client_id}
        if self._secret:
            form["client_secret"] = self._secret
        return form, {}

    def _list_tools(self) -> None:
        if self._profile.is_modern:
            self._call("server/discover", is_modern=True)
        else:
            self._call(
                "initialize",
                {
                    "protocolVersion": self._profile.protocol_version,
                    "capabilities": {},
                    "clientInfo": {"name": "connection-check", "version": "1"},
                },
            )
        result = self._call("tools/list", is_modern=self._profile.is_modern)
        if not result.get("tools"):
            raise Trouble("The list of tools is empty.", "Look into the server's log.")

    def _call(
        self, method: str, params: dict[str, Any] | None = None, *, is_modern: bool = False
    ) -> dict[str, Any]:
        headers = {**_ACCEPT, "Authorization": f"Bearer {self._tokens['access_token']}"}
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method}
        if is_modern:
            headers |= {"MCP-Protocol-Version": _MODERN, "Mcp-Method": method}
            message["params"] = {"_meta": _META}
        else:
            if method != "initialize":
                headers["MCP-Protocol-Version"] = self._profile.protocol_version
            if params is not None:
                message["params"] = params
        answer = self._probe.send("POST", resources.RECALL_PATH, json=message, headers=headers)
        if answer.status_code == 401:
            raise _token_lost(answer)
        body = json_of(resources.RECALL_PATH, answer)
        if "error" in body:
            raise Trouble(
                f"{method} is answered with the error {str(body['error'])[:200]}.",
                "Look into the server's log.",
            )
        result = body.get("result")
        if not isinstance(result, dict):
            raise Trouble(f"{method} is answered with JSON of another form.", PROXY_PATHS)
        return result

    def _revoke(self) -> None:
        form, headers = self._credentials({"token": self._tokens["refresh_token"]})
        answer = self._probe.send("POST", "/revoke", data=form, headers=headers)
        if answer.status_code != 200:
            raise Trouble(f"/revoke answers with status {answer.status_code}.", PROXY_PATHS)
        ended = self._probe.send(
            "POST",
            resources.RECALL_PATH,
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={**_ACCEPT, "Authorization": f"Bearer {self._tokens['access_token']}"},
        )
        if ended.status_code != 401:
            raise Trouble(
                "A token that was given back still works.",
                "Something before Backread answers from a cache; switch it off for this host.",
            )


def _token_lost(answer: httpx.Response) -> Trouble:
    if 'error="invalid_token"' in answer.headers.get("www-authenticate", ""):
        return Trouble(
            "A token that was just issued is not accepted.",
            "Two servers with different databases may answer at this address, or their clocks "
            "differ. Check where the proxy forwards to.",
        )
    return Trouble(
        "The token does not arrive with the request.",
        "Let the proxy pass the Authorization header on.",
    )
