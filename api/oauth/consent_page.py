"""The consent page and the page for requests that cannot be answered."""

import hashlib
import hmac
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from api.accounts.sessions import SignedIn
from api.middleware import PAGE_CSP
from api.oauth import redirects, resources
from api.oauth.errors import AuthorizePageError
from api.oauth.scopes import NOTES_SCOPE_TEXTS, SCOPE_TEXTS
from api.web.templating import render
from backread.domain import Scope
from backread.store.models import OAuthClient, OAuthConsent


def document_host(client_id: str) -> str:
    """Whose word the description of the client is, if it names a document; else empty."""
    return urlsplit(client_id).netloc if client_id.startswith("https://") else ""


def consent_csrf_token(session_csrf: str, consent_id: str) -> str:
    """Good for one answer to one consent page in one browser session."""
    return hmac.new(session_csrf.encode(), consent_id.encode(), hashlib.sha256).hexdigest()


def consent_page(
    request: Request,
    somebody: SignedIn,
    client: OAuthClient,
    consent: OAuthConsent,
    *,
    error: str = "",
    ticked: Collection[str] | None = None,
    status_code: int = 200,
) -> Response:
    """Asks which of the requested scopes the client shall have.

    Its policy has no `form-action`: browsers apply that to the whole chain of redirects after the
    form, which ends at the client's own address, and would block the answer.
    """
    redirect_uri = consent.request["redirect_uri"]
    resource_title = _asked_for(consent)
    texts = NOTES_SCOPE_TEXTS if resource_title == resources.NOTES.title else SCOPE_TEXTS
    scopes = [
        {
            "value": value,
            "title": texts[Scope(value)].title,
            "detail": texts[Scope(value)].detail,
            "checked": ticked is None or value in ticked,
        }
        for value in consent.request["scopes"]
    ]
    context = {
        "client_name": client.name,
        "client_host": redirects.shown_host(redirect_uri),
        "redirect_uri": redirect_uri,
        "is_loopback": redirects.is_loopback(redirect_uri),
        "document_host": document_host(client.id),
        "resource_title": resource_title,
        "scopes": scopes,
        "consent_id": consent.id,
        "csrf_token": consent_csrf_token(somebody.csrf_token, consent.id),
        "account_email": somebody.email,
        "action": "/authorize",
        "error": error,
    }
    response = render(request, "consent.html", context, status_code=status_code)
    response.headers["Content-Security-Policy"] = PAGE_CSP
    return response


def _asked_for(consent: OAuthConsent) -> str:
    """What the client will use, in words; empty for recall, which is what Backread is for."""
    resource = resources.resource_of(consent.request["resource"])
    return "" if resource is resources.RECALL else resource.title


def problem_page(request: Request, error: AuthorizePageError) -> Response:
    """Readable, and says how to get out of it."""
    context = {"message": error.message, "hint": error.hint, "code": error.code}
    return render(request, "oauth_error.html", context, status_code=400)
