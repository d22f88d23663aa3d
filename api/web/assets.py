"""Static files under addresses that change with their content, so browsers may keep them.

The digest stands in the path (`/static/<digest>/app.js`), not in a query, so that ES modules and
style sheets that name each other relatively stay together in one version.
"""

import hashlib
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response

from backread.errors import NotFound

STATIC_DIR = Path(__file__).parent / "static"
_FOREVER = "public, max-age=31536000, immutable"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}

router = APIRouter(include_in_schema=False)


@cache
def _files() -> dict[str, Path]:
    """Every file that may be served, by its path below `static/`. Nothing else is ever opened."""
    return {
        path.relative_to(STATIC_DIR).as_posix(): path
        for path in sorted(STATIC_DIR.rglob("*"))
        if path.is_file() and path.suffix in _MEDIA_TYPES
    }


@cache
def digest() -> str:
    """Names the content of all static files together; computed once per process."""
    total = hashlib.sha256()
    for name, path in _files().items():
        total.update(name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


def asset(name: str) -> str:
    """Address of the static file `name`. Raises NotFound when there is no such file."""
    if name not in _files():
        raise NotFound(f"There is no static file {name!r}.")
    return f"/static/{digest()}/{name}"


@router.get("/static/{version}/{name:path}")
def static_file(version: str, name: str) -> FileResponse:
    path = _files().get(name)
    if path is None:
        raise NotFound("There is no such file.")
    cached = _FOREVER if version == digest() else "no-cache"
    headers = {"Cache-Control": cached, "X-Content-Type-Options": "nosniff"}
    return FileResponse(path, media_type=_MEDIA_TYPES[path.suffix], headers=headers)


@router.get("/favicon.ico")
def favicon() -> Response:
    return static_file(digest(), "icon.svg")
