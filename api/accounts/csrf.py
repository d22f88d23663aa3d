"""Protection of forms against requests forged from other sites.

A signed-in form carries its session's token (a synchroniser token). Forms shown before sign-in
carry the value of a cookie that only our own pages can read into the form. Both also need an
Origin header that is ours, when the browser sends one.
"""

from http.cookies import SimpleCookie

from starlette.requests import Request

from api.origins import is_same_origin
from backread.crypto import new_token, same_secret
from backread.errors import AccessDenied
from backread.settings import Settings

FORM_FIELD = "csrf_token"
HEADER = "X-CSRF-Token"
FORM_COOKIE_STATE = "new_form_cookie"
_FORM_COOKIE_SECONDS = 12 * 3600


def form_cookie_name(settings: Settings) -> str:
    return "__Host-backread_form" if settings.origin.startswith("https://") else "backread_form"


def form_cookie(settings: Settings, value: str) -> str:
    """The Set-Cookie value for a form that is shown before sign-in."""
    cookie: SimpleCookie = SimpleCookie()
    name = form_cookie_name(settings)
    cookie[name] = value
    cookie[name]["path"] = "/"
    cookie[name]["httponly"] = True
    cookie[name]["samesite"] = "Lax"
    cookie[name]["max-age"] = _FORM_COOKIE_SECONDS
    if settings.origin.startswith("https://"):
        cookie[name]["secure"] = True
    return cookie[name].OutputString()


def anonymous_token(request: Request, settings: Settings) -> str:
    """The token for a form shown before sign-in. A new one is set as a cookie on the way out
    (by `api.middleware.SecurityHeaders`, so that any kind of response may carry it)."""
    known = request.cookies.get(form_cookie_name(settings))
    if known:
        return known
    state = request.scope.setdefault("state", {})
    fresh: str = state.setdefault(FORM_COOKIE_STATE, new_token())
    return fresh


def check_origin(request: Request, settings: Settings) -> None:
    """Raises AccessDenied when the browser says that the form came from somewhere else."""
    origin = request.headers.get("origin")
    if origin is None:
        if request.headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}:
            return
    elif is_same_origin(settings, origin, request.headers.get("host", "")):
        return
    raise AccessDenied(
        "This form was sent from another site, so nothing was changed.",
        hint=f"Open {settings.origin} and send the form from there.",
    )


def check_token(expected: str | None, given: str | None) -> None:
    """Raises AccessDenied unless the form carried the token it was made with."""
    if not expected or not given or not same_secret(expected, given):
        raise AccessDenied(
            "This form is no longer valid, so nothing was changed.",
            hint="Go back, reload the page and send it again.",
        )


async def given_token(request: Request) -> str | None:
    """The token that a request carries: a header, or a field of a URL-encoded form.

    Multipart bodies are not read for it: they may be uploads of many gigabytes. A multipart form
    sends the header.
    """
    header = request.headers.get(HEADER)
    if header:
        return header
    content_type = request.headers.get("content-type", "")
    if not content_type.startswith("application/x-www-form-urlencoded"):
        return None
    form = await request.form()
    field = form.get(FORM_FIELD)
    return field if isinstance(field, str) else None
