"""Dynamic client registration (RFC 7591) and reading one's registration (RFC 7592 §2.1).

Anybody may register, as the MCP specification wants; a registration alone allows nothing. The
same public metadata gives the same client again, so clients that register at every start add no
rows, and unused registrations are forgotten after a day.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from sqlalchemy.exc import IntegrityError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from api.deps import KernelDep
from api.oauth.client_metadata import AUTH_METHODS, checked_metadata, invalid_metadata
from api.oauth.errors import NO_STORE, OAuthError
from api.oauth.registration_room import RegistrationRoom
from backread.crypto import hash_token, new_token, same_secret
from backread.identity import new_id
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import OAuthClient
from backread.store.repositories import oauth

router = APIRouter(include_in_schema=False)

_READER_HASH = "registration_reader_hash"


@dataclass(frozen=True, slots=True)
class Registration:
    """What the client is told once: its secret and the token for reading its registration."""

    client: OAuthClient
    secret: str | None
    access_token: str


@router.post("/register")
async def register(request: Request, kernel: KernelDep) -> JSONResponse:
    """RFC 7591 §3."""
    try:
        metadata = checked_metadata(await _json_body(request))
        room: RegistrationRoom = request.app.state.registration_room
        return await run_in_threadpool(_register, kernel, room, metadata)
    except OAuthError as error:
        return error.response()


@router.get("/register/{client_id}")
def read_registration(request: Request, client_id: str, kernel: KernelDep) -> JSONResponse:
    """RFC 7592 §2.1. 401 for a wrong token and an unknown client alike (§2.1 last paragraph)."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    with kernel.store.read() as session:
        client = oauth.find_client(session, client_id)
    expected = client.metadata_.get(_READER_HASH, "") if client else ""
    if (
        client is None
        or scheme.lower() != "bearer"
        or not same_secret(expected, hash_token(given.strip()))
    ):
        return OAuthError("invalid_token", "no such registration", status=401).response()
    body = _described(client, kernel.settings)
    return JSONResponse(body, headers=NO_STORE)


async def _json_body(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise invalid_metadata("the body is not JSON") from error
    if not isinstance(body, dict):
        raise invalid_metadata("the body must be a JSON object")
    return body


def _register(kernel: Kernel, room: RegistrationRoom, metadata: dict[str, Any]) -> JSONResponse:
    if not _is_known(kernel, metadata):
        room.take(kernel)
    with kernel.store.write() as session:
        registration = register_client(session, metadata)
    body = _described(registration.client, kernel.settings)
    body["registration_access_token"] = registration.access_token
    if registration.secret:
        body["client_secret"] = registration.secret
        body["client_secret_expires_at"] = 0  # RFC 7591 §3.2.1: an integer, 0 for never
    return JSONResponse(body, status_code=201, headers=NO_STORE)


def _is_known(kernel: Kernel, metadata: dict[str, Any]) -> bool:
    """Whether it is a public client that has registered before, which takes no more room."""
    if not is_public_client(metadata):
        return False
    with kernel.store.read() as session:
        return oauth.find_client_by_fingerprint(session, _fingerprint(metadata)) is not None


def is_public_client(metadata: dict[str, Any]) -> bool:
    """Whether the client has no secret (RFC 6749 §2.1)."""
    return bool(metadata["token_endpoint_auth_method"] == AUTH_METHODS[0])


def register_client(session: WriteSession, metadata: dict[str, Any]) -> Registration:
    """The client with this metadata, made unless it is public and known already."""
    now = utcnow()
    is_public = is_public_client(metadata)
    # A secret is stored hashed and cannot be told twice, so each confidential client is new.
    fingerprint = _fingerprint(metadata, salt="" if is_public else new_token())
    access_token = new_token("brg_")
    stored = {**metadata, _READER_HASH: hash_token(access_token)}
    client = oauth.find_client_by_fingerprint(session, fingerprint)
    if client is None:
        secret = None if is_public else new_token("brs_")
        client = OAuthClient(
            id=f"brc_{new_id()}",
            secret_hash=hash_token(secret) if secret else "",
            fingerprint=fingerprint,
            name=metadata.get("client_name", ""),
            metadata_=stored,
        )
        try:
            with session.begin_nested():
                session.add(client)
        except IntegrityError:  # another process has just registered the same
            client = oauth.find_client_by_fingerprint(session, fingerprint)
            if client is None:
                raise
        return Registration(client, secret, access_token)
    client.metadata_ = stored
    client.last_used_at = now
    session.flush()
    return Registration(client, None, access_token)


def _fingerprint(metadata: dict[str, Any], salt: str = "") -> str:
    return hashlib.sha256(json.dumps([metadata, salt], sort_keys=True).encode()).hexdigest()


def _described(client: OAuthClient, settings: Settings) -> dict[str, Any]:
    """RFC 7591 §3.2.1: all registered metadata, and RFC 7592 §3's address to read it at."""
    metadata = {key: value for key, value in client.metadata_.items() if key != _READER_HASH}
    return {
        "client_id": client.id,
        "client_id_issued_at": int(client.created_at.timestamp()),
        "registration_client_uri": f"{settings.origin}/register/{client.id}",
        **metadata,
    }
