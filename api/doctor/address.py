"""The checks of an address itself: what every client reads before it signs in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from api.doctor.findings import Finding
from api.doctor.probe import PROXY_PATHS, Probe, Trouble
from api.oauth import resources
from api.oauth.metadata import authorization_server_metadata, protected_resource_metadata
from backread.settings import Settings

_ENDPOINT = resources.RECALL_PATH
_REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@dataclass(frozen=True, slots=True)
class _Check:
    """`is_needed`: without it no client gets in; the others trip over it only sometimes."""

    name: str
    title: str
    work: Callable[[Probe, Settings], None]
    is_needed: bool = True


def check_address(probe: Probe, settings: Settings, *, is_public: bool) -> Iterator[Finding]:
    """One finding per check, in the order in which clients meet them. When the first one fails,
    the others are skipped: nothing answers. `is_public`: the address is the one that clients are
    given, so the server must know itself by it."""
    is_reached = False
    for check in _CHECKS:
        if check.work is _identity and not is_public:
            continue
        if not is_reached and check.work is not _reach:
            yield Finding(check=check.name, title=check.title, state="skipped")
            continue
        work = partial(check.work, probe, settings)
        finding = found(check.name, check.title, work, is_needed=check.is_needed)
        is_reached = is_reached or finding.state == "ok"
        yield finding


def found(name: str, title: str, work: Callable[[], None], *, is_needed: bool = True) -> Finding:
    """Runs a check. What is not needed by every client ends as a warning."""
    try:
        work()
    except Trouble as trouble:
        return Finding(
            check=name,
            title=title,
            state="failed" if is_needed else "warning",
            problem=trouble.problem,
            advice=trouble.advice,
        )
    return Finding(check=name, title=title, state="ok")


def _reach(probe: Probe, settings: Settings) -> None:
    if probe.json("GET", "/healthz").get("status") != "ok":
        raise Trouble(
            "Something else than Backread answers at this address.",
            "Check where the name and the proxy lead to.",
        )


def _resource_metadata(probe: Probe, settings: Settings) -> None:
    expected = protected_resource_metadata(settings, _ENDPOINT)
    for path in (resources.PRM_PATH + _ENDPOINT, resources.PRM_PATH):
        body = probe.json("GET", path)
        if body != expected:
            raise _another_identity(settings, str(body.get("resource")))


def _server_metadata(probe: Probe, settings: Settings) -> None:
    expected = authorization_server_metadata(settings)
    for path in (resources.AS_METADATA_PATH, resources.AS_METADATA_PATH + _ENDPOINT):
        body = probe.json("GET", path)
        body.pop("client_id_metadata_document_supported", None)
        if body != expected:
            raise _another_identity(settings, str(body.get("issuer")))


def _another_identity(settings: Settings, seen: str) -> Trouble:
    return Trouble(
        f"The server that answers takes its own address to be {seen[:200]}, while it should be "
        f"below {settings.origin}.",
        "Either another server answers here, or the proxy rewrites addresses in what it passes "
        "on. Check where it forwards to, and switch the rewriting off.",
    )


def _identity(probe: Probe, settings: Settings) -> None:
    if probe.origin.lower() == settings.origin.lower():
        return
    raise Trouble(
        f"Clients that use {probe.origin} are told that the server is {settings.origin}, and "
        "refuse: both must be the same, letter for letter.",
        f"Start the server with --public-url {probe.origin} (or BACKREAD_PUBLIC_URL).",
    )


def _challenge(probe: Probe, settings: Settings) -> None:
    expected = f'resource_metadata="{resources.metadata_url(settings, _ENDPOINT)}"'
    for method in ("POST", "GET"):
        body = {"json": _REQUEST} if method == "POST" else {}
        answer = probe.send(method, _ENDPOINT, **body)
        if answer.status_code != 401:
            raise Trouble(
                f"{method} {_ENDPOINT} without a token answers with status {answer.status_code} "
                "instead of 401.",
                "Clients then never ask for a sign-in. " + PROXY_PATHS,
            )
        if expected not in answer.headers.get("www-authenticate", ""):
            raise Trouble(
                f"The answer 401 to {method} {_ENDPOINT} has lost its WWW-Authenticate header.",
                "Let the proxy pass it on (nginx: no proxy_hide_header, no error_page for 401).",
            )


def _authorization(probe: Probe, settings: Settings) -> None:
    headers = {"Authorization": "Bearer none"}
    answer = probe.send("POST", _ENDPOINT, json=_REQUEST, headers=headers)
    if 'error="invalid_token"' not in answer.headers.get("www-authenticate", ""):
        raise Trouble(
            "A token in the Authorization header does not arrive at Backread.",
            "Let the proxy pass the Authorization header on, and ask for no password of its own "
            "on this host.",
        )


def _notes(probe: Probe, settings: Settings) -> None:
    """The second MCP server: its own description, and a challenge that leads to it."""
    path = resources.NOTES_PATH
    body = probe.json("GET", resources.PRM_PATH + path)
    if body != protected_resource_metadata(settings, path):
        raise _another_identity(settings, str(body.get("resource")))
    answer = probe.send("POST", path, json=_REQUEST)
    expected = f'resource_metadata="{resources.metadata_url(settings, path)}"'
    if answer.status_code != 401 or expected not in answer.headers.get("www-authenticate", ""):
        raise Trouble(
            f"POST {path} without a token does not lead to the sign-in "
            f"(status {answer.status_code}).",
            "Clients cannot use the notes then. " + PROXY_PATHS,
        )


def _slashes(probe: Probe, settings: Settings) -> None:
    for path in (f"{_ENDPOINT}/", f"{resources.PRM_PATH}{_ENDPOINT}/"):
        answer = probe.send("GET", path)
        if answer.is_redirect:
            raise Trouble(
                f"{path} answers with a redirect to {answer.headers.get('location', '')[:200]}.",
                "Switch off the proxy's clean-up of slashes at the end of addresses.",
            )


def _unknown_documents(probe: Probe, settings: Settings) -> None:
    answer = probe.send("GET", "/.well-known/backread-unknown")
    if answer.status_code != 404 or "json" not in answer.headers.get("content-type", ""):
        raise Trouble(
            "An unknown address below /.well-known/ does not answer with Backread's own 404.",
            "Some clients take a web page there for a document. " + PROXY_PATHS,
        )


def _preflight(probe: Probe, settings: Settings) -> None:
    answer = probe.send(
        "OPTIONS",
        _ENDPOINT,
        headers={
            "Origin": "https://client.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, mcp-protocol-version",
        },
    )
    if not answer.is_success or "access-control-allow-origin" not in answer.headers:
        raise Trouble(
            "Clients that run in a browser may not ask: the answer to OPTIONS has no CORS headers.",
            "Let the proxy pass OPTIONS requests to Backread instead of answering them.",
        )


_CHECKS = (
    _Check("reach", "The server answers", _reach),
    _Check("identity", "It is known by the address that clients use", _identity),
    _Check("resource_metadata", "The MCP server's description is served", _resource_metadata),
    _Check("server_metadata", "The sign-in's description is served", _server_metadata),
    _Check("challenge", "Clients without a token are told where to sign in", _challenge),
    _Check("authorization", "Tokens arrive", _authorization),
    _Check("notes", "The notes server is found, too", _notes, is_needed=False),
    _Check("slashes", "A slash at the end of an address is no redirect", _slashes, is_needed=False),
    _Check(
        "unknown_documents", "Unknown documents are not found", _unknown_documents, is_needed=False
    ),
    _Check("preflight", "Clients in browsers may ask", _preflight, is_needed=False),
)
