"""Discovery documents: what clients read before they register.

RFC 8414 (authorization server), with OpenID Connect's address as an alias because the MCP
specification lets clients ask there, and RFC 9728 (protected resource). Each is served at the
origin's root and with the MCP path appended: clients try either.
"""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from api.deps import SettingsDep
from api.oauth import resources
from api.oauth.client_documents import ClientDocuments
from api.oauth.client_metadata import AUTH_METHODS
from api.oauth.scopes import ALL_SCOPES, OFFLINE_ACCESS
from backread.settings import Settings

router = APIRouter(include_in_schema=False)


def authorization_server_metadata(
    settings: Settings, *, client_documents: bool = False
) -> dict[str, Any]:
    """RFC 8414 §2. `client_documents`: whether a client id may be a document's address."""
    origin = settings.origin
    metadata = {
        "issuer": resources.issuer(settings),
        "authorization_endpoint": f"{origin}/authorize",
        "token_endpoint": f"{origin}/token",
        "registration_endpoint": f"{origin}/register",
        "revocation_endpoint": f"{origin}/revoke",
        "scopes_supported": [*(scope.value for scope in ALL_SCOPES), OFFLINE_ACCESS],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": AUTH_METHODS,
        "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,  # RFC 9207 §3
        "protected_resources": [  # RFC 9728 §4
            settings.origin + path for path in resources.RESOURCE_PATHS
        ],
    }
    if client_documents:  # draft-ietf-oauth-client-id-metadata-document §5
        metadata["client_id_metadata_document_supported"] = True
    return metadata


def protected_resource_metadata(settings: Settings, path: str) -> dict[str, Any]:
    """RFC 9728 §2, for the address that a client was given: it compares the two (§3.3).

    Lists no `offline_access`: that is between client and authorization server.
    """
    return {
        "resource": settings.origin + path,
        "authorization_servers": [resources.issuer(settings)],
        "scopes_supported": [scope.value for scope in resources.resource_at(path).scopes],
        "bearer_methods_supported": ["header"],
        "resource_name": resources.resource_at(path).title,
    }


def _document(body: dict[str, Any]) -> JSONResponse:
    return JSONResponse(body, headers={"Cache-Control": "public, max-age=300"})


def authorization_server(request: Request, settings: SettingsDep) -> JSONResponse:
    documents: ClientDocuments = request.app.state.client_documents
    return _document(authorization_server_metadata(settings, client_documents=documents.is_offered))


def protected_resource(request: Request, settings: SettingsDep) -> JSONResponse:
    """The root address describes the transport that clients should use."""
    path = request.url.path.removeprefix(resources.PRM_PATH).removesuffix("/")
    return _document(protected_resource_metadata(settings, path or resources.RECALL_PATH))


def _server_metadata_paths() -> list[str]:
    """Where RFC 8414 §3 and OpenID Connect Discovery §4 make clients look for our issuer, and
    for each resource, which some take for the issuer."""
    paths = [resources.AS_METADATA_PATH, resources.OIDC_METADATA_PATH]
    for path in resources.RESOURCE_PATHS:
        paths += [resources.AS_METADATA_PATH + path, resources.OIDC_METADATA_PATH + path]
        paths.append(path + resources.OIDC_METADATA_PATH)
    return paths


def _resource_metadata_paths() -> list[str]:
    return [resources.PRM_PATH, *(resources.PRM_PATH + path for path in resources.RESOURCE_PATHS)]


for _paths, _serve in (
    (_server_metadata_paths(), authorization_server),
    (_resource_metadata_paths(), protected_resource),
):
    for _path in _paths:
        router.add_api_route(_path, _serve, methods=["GET", "HEAD"])
        router.add_api_route(f"{_path}/", _serve, methods=["GET", "HEAD"])
