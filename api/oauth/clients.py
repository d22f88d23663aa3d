"""Client authentication at the token and revocation endpoints (RFC 6749 §2.3, §3.2.1)."""

import base64
import binascii
from urllib.parse import unquote_plus

from api.oauth.errors import OAuthError, invalid_client
from api.oauth.forms import Params
from backread.crypto import hash_token, same_secret
from backread.store.engine import ReadSession
from backread.store.models import OAuthClient
from backread.store.repositories import oauth


def presented_credentials(
    authorization: str | None, params: Params
) -> tuple[str | None, str | None]:
    """The client id and secret of a request, from the Basic header or else the body.

    Raises OAuthError for an unreadable header, or when header and body name different clients.
    """
    in_body = params.get("client_id")
    if not authorization:
        return in_body, params.get("client_secret")
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return in_body, params.get("client_secret")
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode("utf-8")
    except (binascii.Error, ValueError) as error:
        raise invalid_client("the Authorization header is not valid Basic credentials") from error
    name, _, secret = text.partition(":")
    # RFC 6749 §2.3.1: both are form-encoded before they are put into the header.
    client_id = unquote_plus(name)
    if not client_id:
        raise invalid_client("the Authorization header names no client")
    if in_body is not None and in_body != client_id:
        raise OAuthError("invalid_request", "the header and the body name different clients")
    return client_id, unquote_plus(secret) or params.get("client_secret")


def authenticated_client(
    session: ReadSession, client_id: str | None, secret: str | None
) -> OAuthClient:
    """The client, if it is registered and, when it has a secret, knows it.

    Basic and body are accepted alike whichever was registered: clients mix them up, and the
    secret proves as much either way. Raises OAuthError `invalid_client` with 401.
    """
    if not client_id:
        raise invalid_client("no client_id was sent")
    client = oauth.find_client(session, client_id)
    if client is None:
        raise invalid_client("this client is not registered here; register again")
    if client.secret_hash and not (secret and same_secret(client.secret_hash, hash_token(secret))):
        raise invalid_client("the client secret is wrong or missing")
    return client
