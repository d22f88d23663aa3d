"""The web application: what is in it and in which order. Nothing else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route

from api.accounts.limits import SignInLimits
from api.accounts.setup_token import ensure_setup_token
from api.errors import install_error_handlers
from api.mcp_server.endpoint import MountedEndpoint, RecallEndpoint
from api.middleware import BodyLimit, HostGuard, PublicCors, RequestId, SecurityHeaders
from api.oauth import authorize, consent, metadata, register, revoke, token
from api.oauth.resources import RECALL_PATH
from api.routes import router as rest_router
from api.web.pages import router as pages_router
from backread import __version__
from backread.kernel import Kernel
from backread.settings import Settings


def create_app(settings: Settings) -> FastAPI:
    """The application for one process. Its kernel opens when the server starts it (after any
    fork) and closes with it. The database must be migrated already."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        kernel = Kernel(settings)
        app.state.kernel = kernel
        ensure_setup_token(settings, kernel.store)
        app.state.recall_endpoint = RecallEndpoint(kernel)
        try:
            async with app.state.recall_endpoint.run():
                yield
        finally:
            kernel.close()

    app = FastAPI(
        title="Backread",
        version=__version__,
        lifespan=lifespan,
        # A redirect between `/x` and `/x/` loses the Authorization header in many clients.
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
    )
    app.state.sign_in_limits = SignInLimits()
    install_error_handlers(app)
    _add_routes(app)
    _add_middleware(app, settings)
    return app


def _add_routes(app: FastAPI) -> None:
    for module in (metadata, register, authorize, consent, token, revoke):
        app.include_router(module.router)
    app.include_router(rest_router)
    app.include_router(pages_router)
    for path in (RECALL_PATH, f"{RECALL_PATH}/"):
        # Every method: what is refused is refused after authentication, by the endpoint.
        app.router.routes.append(Route(path, MountedEndpoint(), methods=None))


def _add_middleware(app: FastAPI, settings: Settings) -> None:
    """Innermost first: each one added wraps those before it."""
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(PublicCors)
    app.add_middleware(SecurityHeaders, settings=settings)
    app.add_middleware(HostGuard, settings=settings)
    app.add_middleware(RequestId)
