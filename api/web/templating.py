"""Renders the pages. Every value is escaped; only `content.py` makes trusted markup."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from api.accounts.passwords import MAX_LENGTH, MIN_LENGTH
from api.web import filters
from api.web.assets import asset
from api.web.content import render_markdown
from api.web.navigation import Navigation
from backread import __version__
from backread.kernel import Kernel

TEMPLATES_DIR: Final = Path(__file__).parent / "templates"


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES_DIR),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        asset=asset,
        version=__version__,
        password_min=MIN_LENGTH,
        password_max=MAX_LENGTH,
    )
    environment.filters.update(filters.FILTERS, markdown=render_markdown)
    return environment


templates: Final = _environment()


def render(
    request: Request,
    template: str,
    context: Mapping[str, Any] | None = None,
    status_code: int = 200,
) -> HTMLResponse:
    """The page `template` as a response.

    `signed_in` (who is looking, or None) comes from the context or from `request.state`; dates
    are shown in that person's time zone.
    """
    values: dict[str, Any] = dict(context or {})
    values.setdefault("signed_in", getattr(request.state, "signed_in", None))
    values.setdefault("zone", filters.zone_of(values["signed_in"]))
    values["path"] = request.url.path
    if values["signed_in"] is not None:
        kernel: Kernel = request.app.state.kernel
        values["navigation"] = Navigation(kernel, values["signed_in"].principal)
    html = templates.get_template(template).render(values)
    return HTMLResponse(html, status_code=status_code, headers={"Cache-Control": "no-store"})
