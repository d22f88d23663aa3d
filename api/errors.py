"""The one place where errors get their look: HTTP problem or HTML page.

Routes under `/api` and requests that do not ask for HTML get `application/problem+json`
(RFC 9457); pages get `error.html`. OAuth endpoints have shapes of their own, fixed by their
RFCs, in `api/oauth/`; MCP tools theirs in `api/mcp_server/failures.py`.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from api.request_limits import STATE as RATE_LIMIT_HEADERS
from api.web.templating import render
from backread import errors
from backread.log import get_logger

_log = get_logger("api.errors")

_STATUS: Mapping[type[errors.BackreadError], int] = {
    errors.UnreadableImport: 422,
    errors.LimitExceeded: 413,
    errors.InvalidInput: 400,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.InsufficientScope: 403,
    errors.AccessDenied: 403,
    errors.NotAuthenticated: 401,
    errors.RateLimited: 429,
    errors.Unavailable: 503,
}
# What only the database notices in a request: NUL, halves of characters, numbers beyond 64 bits.
UNSTORABLE: tuple[type[Exception], ...] = (DataError, UnicodeEncodeError, OverflowError)
_UNEXPECTED = "Something went wrong on the server."
_UNEXPECTED_HINT = "Try again; if it happens again, look for the request id in the server's log."


class SignInRequired(Exception):
    """A page needs somebody signed in. `next_path` is where to go afterwards."""

    def __init__(self, next_path: str, *, set_up_first: bool = False) -> None:
        super().__init__(next_path)
        self.next_path = next_path
        self.set_up_first = set_up_first


def http_status(error: errors.BackreadError) -> int:
    """The status of the nearest class in the error's line of descent."""
    return next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)


def install_error_handlers(app: FastAPI) -> None:
    """Registers the handlers on the application."""
    app.add_exception_handler(errors.BackreadError, _on_backread_error)
    for kind in UNSTORABLE:
        app.add_exception_handler(kind, _on_unstorable)
    app.add_exception_handler(SignInRequired, _on_sign_in_required)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(ClientDisconnect, _on_client_gone)
    app.add_exception_handler(Exception, _on_unexpected)


def _on_backread_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.BackreadError)
    headers = dict(getattr(request.state, RATE_LIMIT_HEADERS, {}))
    if isinstance(error, errors.RateLimited):
        headers["Retry-After"] = str(error.retry_after_seconds)
    if isinstance(error, errors.NotAuthenticated) and request.url.path.startswith("/api/"):
        headers["WWW-Authenticate"] = 'Bearer realm="backread"'  # RFC 9110 §15.5.2
    return _answer(
        request,
        http_status(error),
        code=error.code,
        message=error.message,
        hint=error.hint,
        headers=headers,
    )


def unstorable() -> errors.InvalidInput:
    """What to say of a request that raised one of `UNSTORABLE`."""
    return errors.InvalidInput(
        "The request holds a character or a number that cannot be stored.",
        hint="Take out control characters such as NUL, broken emoji and huge numbers.",
    )


def _on_unstorable(request: Request, error: Exception) -> Response:
    _log.warning("unstorable_request", path=_loggable_path(request), error=type(error).__name__)
    return _on_backread_error(request, unstorable())


def _on_sign_in_required(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignInRequired)
    if error.set_up_first:
        return RedirectResponse("/setup", status_code=303)
    return RedirectResponse(f"/sign-in?next={quote(error.next_path, safe='')}", status_code=303)


def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.url.path.startswith("/.well-known/"):
        # A string `error`, and never a page: clients probe many well-known addresses and take
        # HTML, or an object here, for a broken authorization server.
        return JSONResponse({"error": "not_found"}, status_code=error.status_code)
    message = str(error.detail)
    if error.status_code == 404 and message == HTTPStatus.NOT_FOUND.phrase:
        message = "There is nothing at this address."
    code = HTTPStatus(error.status_code).name.lower()
    return _answer(
        request, error.status_code, code=code, message=message, hint="", headers=error.headers
    )


def _on_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = [
        {"where": ".".join(str(part) for part in item["loc"]), "message": item["msg"]}
        for item in error.errors()
    ]
    message = "; ".join(f"{item['where']}: {item['message']}" for item in found)
    return _answer(
        request,
        422,
        code="invalid_input",
        message=f"The request is not valid. {message}",
        hint="",
        extra={"errors": found},
    )


def _on_client_gone(request: Request, error: Exception) -> Response:
    """Nobody reads the answer. It gives the access log and the metrics nginx's number for it."""
    return Response(status_code=499)


def _on_unexpected(request: Request, error: Exception) -> Response:
    _log.error("unexpected_error", path=_loggable_path(request), exc_info=error)
    return _answer(request, 500, code="internal", message=_UNEXPECTED, hint=_UNEXPECTED_HINT)


def wants_page(request: Request) -> bool:
    """Whether a person is looking: anything outside `/api` that accepts HTML."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get(
        "accept", ""
    )


def _answer(
    request: Request,
    status: int,
    *,
    code: str,
    message: str,
    hint: str,
    headers: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Response:
    title = HTTPStatus(status).phrase
    request_id = getattr(request.state, "request_id", "")
    if wants_page(request):
        context = {
            "status": status,
            "title": title,
            "message": message,
            "hint": hint,
            "request_id": request_id,
        }
        response = render(request, "error.html", context, status_code=status)
        response.headers.update(headers or {})
        return response
    body = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "code": code,
        "detail": message,
        "hint": hint,
        "request_id": request_id,
        **(extra or {}),
    }
    return JSONResponse(
        body, status_code=status, headers=headers, media_type="application/problem+json"
    )


def _loggable_path(request: Request) -> str:
    """The path without the secret that the address of an export is."""
    path = request.url.path
    return "/exports/…" if path.startswith("/exports/") else path
