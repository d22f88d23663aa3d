"""The web application: what is in it and in which order. Nothing else."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from threading import Timer

import anyio
from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Route

from api.accounts.limits import SignInLimits
from api.accounts.setup_token import ensure_setup_token
from api.errors import install_error_handlers
from api.exports import ExportDoor
from api.exports import router as exports_router
from api.mcp_server.mounting import (
    FOLDER_ENDPOINT,
    NOTES_ENDPOINT,
    LateEndpoint,
    MountedEndpoint,
)
from api.middleware import BodyLimit, HostGuard, PublicCors, RequestId, SecurityHeaders
from api.oauth import authorize, consent, metadata, register, revoke, token
from api.oauth.client_documents import ClientDocuments
from api.oauth.registration_room import RegistrationRoom
from api.oauth.resources import FOLDER_PATH, MESSAGES_PATH, NOTES_PATH, RECALL_PATH, SSE_PATH
from api.request_limits import RequestLimit
from api.routes import router as rest_router
from api.telemetry import Telemetry
from api.web.pages import router as pages_router
from backread import __version__
from backread.errors import BackreadError
from backread.kernel import Kernel
from backread.log import get_logger
from backread.settings import Settings
from backread.telemetry.tracing import start_tracing

_WARM_UP_AFTER_SECONDS = 2.0
_log = get_logger(__name__)


def create_app(settings: Settings) -> FastAPI:
    """The application for one process. Its kernel opens when the server starts it (after any
    fork) and closes with it. The database must be migrated already."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        start_tracing(settings, "web")
        kernel = Kernel(settings)
        app.state.kernel = kernel
        ensure_setup_token(settings, kernel.store)
        app.state.recall_endpoint = LateEndpoint(kernel)
        app.state.notes_endpoint = LateEndpoint(kernel, NOTES_ENDPOINT)
        app.state.folder_endpoint = LateEndpoint(kernel, FOLDER_ENDPOINT)
        try:
            with _warming_up(kernel):
                async with (
                    app.state.recall_endpoint.run(),
                    app.state.notes_endpoint.run(),
                    app.state.folder_endpoint.run(),
                    anyio.create_task_group() as group,
                ):
                    group.start_soon(app.state.client_documents.run_self_test)
                    yield
                    group.cancel_scope.cancel()
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
        routes=_ROUTES,
    )
    app.state.sign_in_limits = SignInLimits()
    app.state.export_door = ExportDoor()
    app.state.client_documents = ClientDocuments(settings)
    app.state.registration_room = RegistrationRoom()
    app.state.notes_limit = RequestLimit("notes", settings.notes_requests_per_minute)
    install_error_handlers(app)
    _add_middleware(app, settings)
    return app


@contextmanager
def _warming_up(kernel: Kernel) -> Iterator[None]:
    """Meanwhile the embedding model is loaded, so that the first question does not wait for it;
    after a moment, so that the first page does not either."""
    timer = Timer(_WARM_UP_AFTER_SECONDS, _warm_up, (kernel,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _warm_up(kernel: Kernel) -> None:
    try:
        kernel.warm_up()
    except BackreadError as error:
        # Whoever asks first is told the same; until then words are searched and pages shown.
        _log.warning("embedding_model_not_loaded", reason=str(error))


def _all_routes() -> list[BaseRoute]:
    router = APIRouter()
    for module in (metadata, register, authorize, consent, token, revoke):
        router.include_router(module.router)
    router.include_router(rest_router)
    router.include_router(exports_router)
    router.include_router(pages_router)
    # First of all: routes are tried in turn, and a call would pay for some three hundred others.
    return [*_mcp_routes(), *router.routes]


def _mcp_routes() -> list[BaseRoute]:
    recall = MountedEndpoint()
    served = {
        RECALL_PATH: recall,
        SSE_PATH: recall,
        MESSAGES_PATH: recall,
        NOTES_PATH: MountedEndpoint("notes_endpoint"),
        FOLDER_PATH: MountedEndpoint("folder_endpoint"),
    }
    # Every method: what is refused is refused after authentication, by the endpoint.
    return [
        Route(spelling, endpoint, methods=None)
        for path, endpoint in served.items()
        for spelling in (path, f"{path}/")
    ]


# Made once for all applications of a process: on a route's first request its handler's signature
# is analysed, and the result is kept with the route.
_ROUTES = _all_routes()


def _add_middleware(app: FastAPI, settings: Settings) -> None:
    """Innermost first: each one added wraps those before it."""
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(PublicCors)
    app.add_middleware(SecurityHeaders, settings=settings)
    app.add_middleware(HostGuard, settings=settings)
    app.add_middleware(Telemetry)
    app.add_middleware(RequestId)
