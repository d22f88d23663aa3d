"""Discovery documents: what clients read before they register.

RFC 8414 (authorization server), with OpenID Connect's address as an alias because the MCP
specification lets clients ask there, and RFC 9728 (protected resource). Each is served at the
origin's root and with the MCP path appended: clients try either.
"""

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse

from api.deps import SettingsDep
from api.oauth import resources
from api.oauth.scopes import ALL_SCOPES, OFFLINE_ACCESS
from backread.settings import Settings

router = APIRouter(include_in_schema=False)

AUTH_METHODS = ["none", "client_secret_post", "client_secret_basic"]


def authorization_server_metadata(settings: Settings) -> dict[str, Any]:
    """RFC 8414 §2."""
    origin = settings.origin
    return {
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
        "protected_resources": [resources.recall_resource(settings)],  # RFC 9728 §4
    }


def protected_resource_metadata(settings: Settings) -> dict[str, Any]:
    """RFC 9728 §2. Lists no `offline_access`: that is between client and authorization server."""
    return {
        "resource": resources.recall_resource(settings),
        "authorization_servers": [resources.issuer(settings)],
        "scopes_supported": [scope.value for scope in ALL_SCOPES],
        "bearer_methods_supported": ["header"],
        "resource_name": "Backread",
    }


def _document(body: dict[str, Any]) -> JSONResponse:
    return JSONResponse(body, headers={"Cache-Control": "public, max-age=300"})


@router.api_route(resources.AS_METADATA_PATH, methods=["GET", "HEAD"])
@router.api_route(resources.AS_METADATA_PATH + resources.RECALL_PATH, methods=["GET", "HEAD"])
@router.api_route(resources.OIDC_METADATA_PATH, methods=["GET", "HEAD"])
@router.api_route(resources.OIDC_METADATA_PATH + resources.RECALL_PATH, methods=["GET", "HEAD"])
@router.api_route(resources.RECALL_PATH + resources.OIDC_METADATA_PATH, methods=["GET", "HEAD"])
def authorization_server(settings: SettingsDep) -> JSONResponse:
    return _document(authorization_server_metadata(settings))


@router.api_route(resources.PRM_PATH, methods=["GET", "HEAD"])
@router.api_route(resources.PRM_PATH + resources.RECALL_PATH, methods=["GET", "HEAD"])
@router.api_route(resources.PRM_PATH + resources.RECALL_PATH + "/", methods=["GET", "HEAD"])
def protected_resource(settings: SettingsDep) -> JSONResponse:
    return _document(protected_resource_metadata(settings))
