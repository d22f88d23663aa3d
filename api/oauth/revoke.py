"""Token revocation (RFC 7009)."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from api.deps import KernelDep
from api.oauth.clients import authenticated_client, presented_credentials
from api.oauth.errors import NO_STORE, OAuthError
from api.oauth.forms import Params, form_params
from backread.crypto import hash_token
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.repositories import oauth

router = APIRouter(include_in_schema=False)


@router.post("/revoke")
async def revoke(request: Request, kernel: KernelDep) -> Response:
    """RFC 7009 §2. An unknown token is answered like a known one (§2.2)."""
    try:
        params = await form_params(request)
        params.check_repeated()
        credentials = presented_credentials(request.headers.get("authorization"), params)
        await run_in_threadpool(_revoke, kernel, params, credentials)
    except OAuthError as error:
        return error.response()
    return Response(status_code=200, headers=NO_STORE)


def _revoke(kernel: Kernel, params: Params, credentials: tuple[str | None, str | None]) -> None:
    """Revoking a refresh token ends its whole grant; an access token, only itself (§2.1)."""
    value = params.get("token")
    with kernel.store.write() as session:
        client = authenticated_client(session, *credentials)
        if value is None:
            raise OAuthError("invalid_request", "token is missing")
        token = oauth.find_any_token(session, hash_token(value))
        grant = oauth.find_grant_for_update(session, token.grant_id) if token else None
        if token is None or grant is None or grant.client_id != client.id:
            return
        if token.kind == oauth.REFRESH:
            oauth.revoke_grant(session, grant.id, now=utcnow())
        else:
            oauth.delete_token(session, token.token_hash)
