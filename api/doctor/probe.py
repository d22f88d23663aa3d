"""Asks the server over real HTTP, and says in words what kept an answer from being one."""

import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

TIMEOUT_SECONDS = 10.0
_SHOWN = 120

PROXY_PATHS = (
    "Let the proxy pass every path to Backread unchanged, /.well-known/ among them; "
    "deploy/ has samples for nginx and Caddy."
)


class Trouble(Exception):
    """A check failed. `problem` says what was seen, `advice` what to change."""

    def __init__(self, problem: str, advice: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.advice = advice


@dataclass(slots=True)
class Probe:
    """Requests to one origin, without redirects and without the machine's own proxy settings."""

    origin: str
    headers: dict[str, str] = field(default_factory=dict)
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=False)

    def close(self) -> None:
        self.client.close()

    def send(self, method: str, path: str, **content: Any) -> httpx.Response:
        """The answer, whatever its status. Raises Trouble when there is none."""
        headers = self.headers | content.pop("headers", {})
        try:
            return self.client.request(method, self.origin + path, headers=headers, **content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _unreachable(self.origin, error) from error

    def json(self, method: str, path: str, *, status: int = 200, **content: Any) -> dict[str, Any]:
        """The JSON object of an answer with that status. Raises Trouble for anything else."""
        return json_of(path, self.send(method, path, **content), status=status)


def json_of(path: str, answer: httpx.Response, *, status: int = 200) -> dict[str, Any]:
    """The JSON object that was answered. Raises Trouble when it is none, or of another status."""
    if answer.is_redirect:
        raise _redirected(path, answer)
    if answer.status_code != status:
        raise _wrong_status(path, answer)
    try:
        body = answer.json()
    except ValueError as error:
        raise Trouble(
            f"{path} answers with {_kind(answer)} instead of JSON.",
            "Something before Backread answers in its place. " + PROXY_PATHS,
        ) from error
    if not isinstance(body, dict):
        raise Trouble(f"{path} answers with JSON of another form.", PROXY_PATHS)
    return body


def _unreachable(origin: str, error: Exception) -> Trouble:
    host = urlsplit(origin).hostname
    if _is_about_certificates(error):
        return Trouble(
            f"The certificate of {host} is not trusted: {str(error)[:_SHOWN]}.",
            "Get one from a public authority (Caddy does by itself; certbot for nginx) and send "
            "the whole chain. Clients in the cloud accept no other.",
        )
    if isinstance(error, httpx.TimeoutException):
        return Trouble(
            f"{origin} did not answer within {TIMEOUT_SECONDS:.0f} seconds.",
            "Check the firewall and the proxy. A home network may not let a computer reach itself "
            "by its public name; then try from outside, or open the port.",
        )
    if isinstance(error, httpx.ConnectError):
        return Trouble(
            f"{origin} cannot be reached ({str(error)[:_SHOWN]}).",
            "Check that the name leads to this machine, that the proxy runs, and that the port is "
            "open.",
        )
    return Trouble(
        f"The answer of {origin} broke off ({type(error).__name__}).",
        "Look into the proxy's error log.",
    )


def _is_about_certificates(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError) or "CERTIFICATE_VERIFY_FAILED" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _redirected(path: str, answer: httpx.Response) -> Trouble:
    return Trouble(
        f"{path} answers with a redirect to {answer.headers.get('location', '')[:_SHOWN]}.",
        "Clients lose their token at a redirect. Use the address that it leads to, https and "
        "without a slash at the end, as BACKREAD_PUBLIC_URL, and switch the redirect off.",
    )


def _wrong_status(path: str, answer: httpx.Response) -> Trouble:
    seen = f"{path} answers with status {answer.status_code} and {_kind(answer)}"
    if answer.status_code in {403, 429, 503} and "html" in answer.headers.get("content-type", ""):
        return Trouble(
            f"{seen}.",
            "A firewall or bot filter before Backread turns AI clients away. Allow their requests "
            "for this host: user agents Claude-User, openai-mcp, python-httpx and node.",
        )
    if answer.status_code == 421 or "host" in answer.text[:_SHOWN].lower():
        return Trouble(
            f"{seen}.",
            "Let the proxy send the public name as Host, or name the other one in "
            "BACKREAD_ALLOWED_HOSTS.",
        )
    if answer.status_code in {404, 405}:
        return Trouble(f"{seen}.", PROXY_PATHS)
    if answer.status_code in {502, 504}:
        return Trouble(f"{seen}.", "The proxy cannot reach Backread: check where it forwards to.")
    return Trouble(f"{seen}: {answer.text[:_SHOWN]}", "Look into the server's log for the reason.")


def _kind(answer: httpx.Response) -> str:
    kind = answer.headers.get("content-type", "").split(";")[0]
    return "a web page" if kind == "text/html" else kind or "no content type"
