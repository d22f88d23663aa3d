"""What clients say about themselves (RFC 7591 §2), checked and cleaned: when they register, and
when a document describes them."""

from typing import Any

from api.oauth import redirects
from api.oauth.errors import OAuthError
from api.oauth.scopes import ALL_SCOPES, OFFLINE_ACCESS

AUTH_METHODS = ["none", "client_secret_post", "client_secret_basic"]
_MAX_NAME = 200
_GRANT_TYPES = ["authorization_code", "refresh_token"]
# RFC 7591 §2 fields that are kept and echoed; anything else is left out, as §2 allows.
_TEXT_FIELDS = (
    "client_uri",
    "logo_uri",
    "tos_uri",
    "policy_uri",
    "software_id",
    "software_version",
)
_MAX_TEXT = 2_000


def invalid_metadata(description: str) -> OAuthError:
    return OAuthError("invalid_client_metadata", description)


def checked_metadata(body: dict[str, Any]) -> dict[str, Any]:
    """The metadata as it is stored and echoed. Raises OAuthError (RFC 7591 §3.2.2).

    Lenient where clients are known to differ: unknown grant types and scopes are dropped, never
    refused; an `application_type` that contradicts the redirect URIs is corrected.
    """
    uris = redirects.check_redirect_uris(body.get("redirect_uris"))
    method = body.get("token_endpoint_auth_method") or "client_secret_basic"  # RFC 7591 §2
    if method not in AUTH_METHODS:
        raise invalid_metadata(
            f"token_endpoint_auth_method must be one of {', '.join(AUTH_METHODS)}"
        )
    response_types = body.get("response_types") or ["code"]
    if not isinstance(response_types, list) or "code" not in response_types:
        raise invalid_metadata('response_types must include "code"')
    native = any(redirects.is_native(uri) for uri in uris)
    metadata: dict[str, Any] = {
        "redirect_uris": uris,
        "token_endpoint_auth_method": method,
        "grant_types": _GRANT_TYPES,
        "response_types": ["code"],
        "application_type": "native" if native else "web",
        "scope": " ".join([*(scope.value for scope in ALL_SCOPES), OFFLINE_ACCESS]),
    }
    name = body.get("client_name")
    if isinstance(name, str) and name.strip():
        metadata["client_name"] = clean_name(name)
    for field in _TEXT_FIELDS:
        value = body.get(field)
        if isinstance(value, str) and 0 < len(value) <= _MAX_TEXT:
            metadata[field] = value
    contacts = body.get("contacts")
    if isinstance(contacts, list) and all(isinstance(item, str) for item in contacts):
        metadata["contacts"] = [item[:_MAX_TEXT] for item in contacts[:10]]
    return metadata


def clean_name(name: str) -> str:
    """A client's own name for itself, safe to show: one line, no control, direction or other
    invisible characters, at most 200."""
    visible = "".join(char if char.isprintable() else " " for char in name[: 10 * _MAX_NAME])
    return " ".join(visible.split())[:_MAX_NAME]
