"""Proxies as people set them up by mistake: each bends one thing on the way to the application."""

from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Answer = Callable[[Scope], Response | None]


def answering(answer: Answer) -> Callable[[ASGIApp], ASGIApp]:
    """Answers some requests in the application's place."""

    def wrap(app: ASGIApp) -> ASGIApp:
        async def proxy(scope: Scope, receive: Receive, send: Send) -> None:
            given = answer(scope) if scope["type"] == "http" else None
            await (given or app)(scope, receive, send)

        return proxy

    return wrap


def without_request_header(name: str) -> Callable[[ASGIApp], ASGIApp]:
    def wrap(app: ASGIApp) -> ASGIApp:
        async def proxy(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                kept = [pair for pair in scope["headers"] if pair[0] != name.encode()]
                scope = {**scope, "headers": kept}
            await app(scope, receive, send)

        return proxy

    return wrap


def changing_headers(change: Callable[[MutableHeaders], None]) -> Callable[[ASGIApp], ASGIApp]:
    def wrap(app: ASGIApp) -> ASGIApp:
        async def proxy(scope: Scope, receive: Receive, send: Send) -> None:
            async def changed(message: Message) -> None:
                if message["type"] == "http.response.start":
                    change(MutableHeaders(scope=message))
                await send(message)

            await app(scope, receive, changed)

        return proxy

    return wrap


def changing_body(old: bytes, new: bytes) -> Callable[[ASGIApp], ASGIApp]:
    """Rewrites addresses in what it passes on; both must be of one length."""

    def wrap(app: ASGIApp) -> ASGIApp:
        async def proxy(scope: Scope, receive: Receive, send: Send) -> None:
            async def changed(message: Message) -> None:
                if message["type"] == "http.response.body":
                    message = {**message, "body": message.get("body", b"").replace(old, new)}
                await send(message)

            await app(scope, receive, changed)

        return proxy

    return wrap


def well_known_page(scope: Scope) -> Response | None:
    is_page = scope["path"].startswith("/.well-known/")
    return HTMLResponse("<title>Welcome</title>") if is_page else None


def unknown_page(scope: Scope) -> Response | None:
    is_page = scope["path"] == "/.well-known/backread-unknown"
    return HTMLResponse("<title>Welcome</title>") if is_page else None


def no_well_known(scope: Scope) -> Response | None:
    is_missing = scope["path"].startswith("/.well-known/")
    return PlainTextResponse("no such file", 404) if is_missing else None


def slash_redirect(scope: Scope) -> Response | None:
    return RedirectResponse(scope["path"].rstrip("/"), 301) if scope["path"][-1] == "/" else None


def https_redirect(scope: Scope) -> Response | None:
    return RedirectResponse(f"https://backread.example{scope['path']}", 308)


def bad_gateway(scope: Scope) -> Response | None:
    return HTMLResponse("<h1>502 Bad Gateway</h1>", 502)


def bot_filter(scope: Scope) -> Response | None:
    agent = Headers(scope=scope).get("user-agent", "")
    return HTMLResponse("<h1>Are you human?</h1>", 403) if "Claude" in agent else None


def wrong_host(scope: Scope) -> Response | None:
    return PlainTextResponse("Invalid host header", 400)


def own_preflight(scope: Scope) -> Response | None:
    return PlainTextResponse("", 405) if scope["method"] == "OPTIONS" else None


def own_login(scope: Scope) -> Response | None:
    headers = {"WWW-Authenticate": 'Basic realm="home"'}
    is_asked = scope["path"].startswith("/api/")
    return PlainTextResponse("sign in", 401, headers=headers) if is_asked else None
