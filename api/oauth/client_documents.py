"""Clients that are named by the address of a document about them, instead of registering.

Client ID Metadata Documents: draft-ietf-oauth-client-id-metadata-document, and the MCP
specification of 2025-11-25 (authorization, client registration). A document is fetched when
somebody who is signed in is asked about its client, and kept as a client whose id is the address.

Offered to clients only where this server can fetch documents: a client that is told so never
registers, and would fail for good behind a closed firewall.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import anyio
from anyio import to_thread
from sqlalchemy.exc import IntegrityError

from api.oauth.client_metadata import checked_metadata
from api.oauth.errors import AuthorizePageError, OAuthError
from api.oauth.guarded_fetch import Fetched, FetchFailed, GuardedFetcher
from backread.kernel import Kernel
from backread.log import get_logger
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import OAuthClient
from backread.store.repositories import oauth

# How long a document is used without asking again, where its server says nothing, and the bounds
# of what its server may say.
_USUAL_LIFE = timedelta(hours=1)
_SHORTEST_LIFE = timedelta(minutes=5)
_LONGEST_LIFE = timedelta(hours=24)
# An older document still serves when its server cannot be reached now (RFC 5861 §4).
_STALE_LIFE = timedelta(hours=24)
_MAX_AGE = re.compile(r"\bmax-age=(\d{1,9})\b")
_BETWEEN_SELF_TESTS_SECONDS = 600.0

_log = get_logger("api.oauth")


class ClientDocuments:
    """Fetches and keeps the documents of one process. `is_offered` tells clients of it."""

    def __init__(self, settings: Settings, fetcher: GuardedFetcher | None = None) -> None:
        self._settings = settings
        self._fetcher = fetcher or GuardedFetcher()
        self.is_offered = settings.client_documents == "on"

    async def run_self_test(self) -> None:
        """With the setting `auto`: offers documents from the first time on that one could be
        fetched. Returns then, or at once with another setting."""
        if self._settings.client_documents != "auto":
            return
        while not self.is_offered:
            try:
                await self._fetcher.fetch_json(self._settings.client_documents_probe_url)
            except FetchFailed as error:
                _log.info("client_documents_not_offered", reason=str(error))
                await anyio.sleep(_BETWEEN_SELF_TESTS_SECONDS)
            else:
                self.is_offered = True
                _log.info("client_documents_offered")

    def names_document(self, client_id: str) -> bool:
        """Whether a client id is to be taken for the address of a document."""
        return self.is_offered and client_id.startswith("https://")

    async def ensure(self, kernel: Kernel, client_id: str) -> None:
        """Makes the client known, by a document that is fresh or, if it must be, stale.

        Raises AuthorizePageError: a client that cannot be looked up is nobody to redirect to.
        """
        known = await to_thread.run_sync(_known, kernel, client_id)
        if known is not None and _moment(known, "document_fresh_until") > utcnow():
            return
        try:
            fetched = await self._fetcher.fetch_json(client_id)
            metadata = checked_document(client_id, fetched.body)
        except (FetchFailed, OAuthError) as error:
            is_usable = known is not None and isinstance(error, FetchFailed)
            if is_usable and _moment(known, "document_fetched_at") + _STALE_LIFE > utcnow():
                return
            raise _unusable(error) from error
        await to_thread.run_sync(_keep, kernel, client_id, metadata | _times(fetched))


def checked_document(client_id: str, body: bytes) -> dict[str, Any]:
    """The client's metadata as it is stored. Raises OAuthError where a document says something
    that cannot be relied on (draft §4.1); unknown grant types and fields do no harm."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise OAuthError("invalid_client_metadata", "it is not valid JSON") from error
    if not isinstance(document, dict):
        raise OAuthError("invalid_client_metadata", "it is not a JSON object")
    if document.get("client_id") != client_id:
        raise OAuthError("invalid_client_metadata", "its client_id is not its own address")
    name = document.get("client_name")
    if not isinstance(name, str) or not name.strip():
        raise OAuthError("invalid_client_metadata", "it has no client_name")
    if document.get("token_endpoint_auth_method", "none") != "none":
        # A shared secret cannot stand in a public document, and keys are not supported here.
        raise OAuthError(
            "invalid_client_metadata", "it asks for client authentication; only none is supported"
        )
    return checked_metadata({**document, "token_endpoint_auth_method": "none"})


def _times(fetched: Fetched) -> dict[str, str]:
    """RFC 9111 §5.2.2: how long the answer says it may be kept, within bounds."""
    control = fetched.headers.get("cache-control", "").lower()
    found = _MAX_AGE.search(control)
    life = timedelta(seconds=int(found[1])) if found else _USUAL_LIFE
    if "no-store" in control or "no-cache" in control:
        life = _SHORTEST_LIFE
    life = min(max(life, _SHORTEST_LIFE), _LONGEST_LIFE)
    now = utcnow()
    return {
        "document_fetched_at": now.isoformat(),
        "document_fresh_until": (now + life).isoformat(),
    }


def _moment(metadata: Mapping[str, Any] | None, key: str) -> datetime:
    with suppress(KeyError, TypeError, ValueError):
        return datetime.fromisoformat((metadata or {})[key])
    return datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def _known(kernel: Kernel, client_id: str) -> dict[str, Any] | None:
    with kernel.store.read() as session:
        client = oauth.find_client(session, client_id)
        return dict(client.metadata_) if client is not None else None


def _keep(kernel: Kernel, client_id: str, metadata: dict[str, Any]) -> None:
    with kernel.store.write() as session:
        client = oauth.find_client(session, client_id) or _added(session, client_id)
        client.name = metadata["client_name"]
        client.metadata_ = metadata
        client.last_used_at = utcnow()


def _added(session: WriteSession, client_id: str) -> OAuthClient:
    client = OAuthClient(
        id=client_id,
        fingerprint=hashlib.sha256(client_id.encode()).hexdigest(),
        metadata_={},
    )
    try:
        with session.begin_nested():
            session.add(client)
    except IntegrityError:  # another request has just added it
        return session.get_one(OAuthClient, client_id)
    return client


def _unusable(error: Exception) -> AuthorizePageError:
    description = error.description if isinstance(error, OAuthError) else str(error)
    return AuthorizePageError(
        f"The client that sent you here describes itself in a document that cannot be used: "
        f"{description}.",
        hint="Try again in a few minutes. If it stays like this, tell whoever makes the client, "
        "or set BACKREAD_CLIENT_DOCUMENTS=off on the server, so that clients register instead.",
        code="invalid_client",
    )
