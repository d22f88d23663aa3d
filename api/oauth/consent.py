"""The person's answer on the consent page: the only place where a grant and a code are made.

Asked every time. That a person allowed one client, or this client once, never skips the page:
anybody may register a client under any name.
"""

from datetime import timedelta

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from api.accounts import csrf
from api.accounts.sessions import SignedIn
from api.deps import KernelDep, SignedInDep
from api.oauth.authorize import answer_redirect, error_redirect
from api.oauth.consent_page import consent_csrf_token, consent_page, problem_page
from api.oauth.errors import AuthorizePageError, OAuthError
from api.oauth.forms import Params, form_params
from backread.crypto import hash_token, new_token
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import OAuthCode, OAuthConsent, OAuthGrant
from backread.store.repositories import oauth

router = APIRouter(include_in_schema=False)

CODE_LIFE = timedelta(seconds=60)
CODE_PREFIX = "bro_"
_log = get_logger("api.oauth")


@router.post("/authorize")
async def answer_consent(request: Request, kernel: KernelDep, somebody: SignedInDep) -> Response:
    """Redirects to the client with a code, or with `access_denied`."""
    csrf.check_origin(request, kernel.settings)
    try:
        params = await form_params(request)
    except OAuthError as error:
        problem = AuthorizePageError(
            "The form could not be read.", hint="Go back and try again.", code=error.code
        )
        return problem_page(request, problem)
    return await run_in_threadpool(_answer, request, kernel, somebody, params)


def _answer(request: Request, kernel: Kernel, somebody: SignedIn, params: Params) -> Response:
    consent_id = params.get("consent_id") or ""
    expected = consent_csrf_token(somebody.csrf_token, consent_id)
    csrf.check_token(expected, params.get(csrf.FORM_FIELD))
    with kernel.store.write() as session:
        consent = oauth.find_consent_for_update(session, consent_id)
        if consent is None or not _is_open(consent, somebody):
            return problem_page(request, _ENDED)
        client = oauth.find_client(session, consent.client_id)
        assert client is not None  # the foreign key sees to it
        ticked = [scope for scope in consent.request["scopes"] if scope in params.all("scope")]
        if params.get("decision") == "allow" and not ticked:
            return consent_page(
                request,
                somebody,
                client,
                consent,
                error="Tick at least one permission, or choose Deny.",
                ticked=ticked,
                status_code=422,
            )
        consent.answered_at = utcnow()
        redirect_uri, state = consent.request["redirect_uri"], consent.request["state"]
        if params.get("decision") != "allow":
            denied = OAuthError("access_denied", "the person did not allow it")
            return error_redirect(kernel.settings, redirect_uri, state, denied)
        code = issue_code(session, consent, ticked)
    _log.info("grant_made", account_id=somebody.account_id, client_id=client.id, scopes=ticked)
    return answer_redirect(kernel.settings, redirect_uri, state, {"code": code})


_ENDED = AuthorizePageError(
    "This question was answered already, has expired, or was asked in another session.",
    hint="Start again from the client that you want to connect.",
    code="invalid_request",
)


def _is_open(consent: OAuthConsent, somebody: SignedIn) -> bool:
    return (
        consent.account_id == somebody.account_id
        and consent.session_id == somebody.session_id
        and consent.answered_at is None
        and consent.expires_at > utcnow()
    )


def issue_code(session: WriteSession, consent: OAuthConsent, scopes: list[str]) -> str:
    """Stores what the person allowed and returns the code that the client can claim it with."""
    now = utcnow()
    grant = OAuthGrant(
        account_id=consent.account_id,
        client_id=consent.client_id,
        scopes=scopes,
        resource=consent.request["resource"],
        created_at=now,
    )
    session.add(grant)
    session.flush()
    code = new_token(CODE_PREFIX)
    session.add(
        OAuthCode(
            code_hash=hash_token(code),
            grant_id=grant.id,
            client_id=consent.client_id,
            redirect_uri=consent.request["redirect_uri"],
            code_challenge=consent.request["code_challenge"],
            expires_at=now + CODE_LIFE,
        )
    )
    session.flush()
    return code
