"""Memories to review: what platforms remember, for a person to keep or dismiss."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, SignedInDep
from api.errors import http_status
from api.web.filters import number, plural
from api.web.forms import unix_lines
from api.web.templating import render
from backread.domain import Principal
from backread.errors import BackreadError, InvalidInput, LimitExceeded, NotFound
from backread.kernel import Kernel
from backread.store.repositories.suggestions import (
    ListedSuggestion,
    SuggestionFilter,
    count_suggestions,
    list_suggestions,
)
from recall.memories import MAX_BUCKET_NAME, list_buckets
from recall.suggestions import (
    MOST_AT_ONCE,
    AcceptedSuggestion,
    accept_suggestions,
    dismiss_suggestions,
    restore_suggestions,
)

PAGE_SIZE = 50
_ADDRESS = "/memories/review"
_STATE_NAMES = {"open": "To review", "dismissed": "Dismissed", "accepted": "Kept"}
_NEW_BUCKET = "new"

router = APIRouter(include_in_schema=False)

_Count = Annotated[int, Query(ge=0, le=MOST_AT_ONCE)]
_Page = Annotated[int, Query(ge=1, le=100_000)]


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """Suggestions of one page that come from one place of a platform."""

    source: str
    project: str
    rows: Sequence[ListedSuggestion]


@dataclass(frozen=True, slots=True)
class PlatformGroup:
    """Suggestions of one page that come from one platform."""

    platform: str
    sources: Sequence[SourceGroup]


@dataclass(frozen=True, slots=True)
class ReviewView:
    """Which suggestions the page shows."""

    state: str = "open"
    platform: str = ""
    page: int = 1

    def address(self, **more: int | str) -> str:
        query = {
            "state": "" if self.state == "open" else self.state,
            "platform": self.platform,
            "page": "" if self.page == 1 else self.page,
            **more,
        }
        text = urlencode({name: value for name, value in query.items() if value})
        return f"{_ADDRESS}?{text}" if text else _ADDRESS


@router.get(_ADDRESS)
def review_page(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    state: Annotated[str, Query(pattern="^(open|dismissed|accepted)$")] = "open",
    platform: Annotated[str, Query(max_length=32)] = "",
    page: _Page = 1,
    edit: Annotated[str, Query(max_length=26)] = "",
    kept: _Count = 0,
    already: _Count = 0,
    dismissed: _Count = 0,
    restored: _Count = 0,
) -> Response:
    """The counts say what the form that led here has done."""
    notice = ""
    if kept:
        notice = f"Kept {plural(kept, 'memory', 'memories')}."
        notice += f" {number(already)} of them had been there already." if already else ""
    elif dismissed:
        notice = f"Dismissed {plural(dismissed, 'suggestion')}; no import brings them up again."
    elif restored:
        notice = f"{plural(restored, 'suggestion')} to review again."
    view = ReviewView(state, platform, page)
    return _page(request, kernel, signed_in, view, edit=edit, notice=notice)


@router.post(_ADDRESS, dependencies=[CsrfDep])
def decide(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    action: Annotated[str, Form(pattern="^(accept|dismiss|restore)$")],
    ids: Annotated[list[str] | None, Form(alias="id", max_length=MOST_AT_ONCE)] = None,
    every: Annotated[bool, Form()] = False,
    text: Annotated[str, Form(max_length=20_000)] = "",
    bucket: Annotated[str, Form(max_length=32)] = "",
    bucket_name: Annotated[str, Form(max_length=1000)] = "",
    state: Annotated[str, Form(pattern="^(open|dismissed)$")] = "open",
    platform: Annotated[str, Form(max_length=32)] = "",
    page: Annotated[int, Form(ge=1, le=100_000)] = 1,
) -> Response:
    """Decides the chosen ones, or with `every` all that the page's filter leaves, up to 500."""
    principal = signed_in.principal
    view = ReviewView(state, platform, page)
    chosen = _all_ids(kernel, principal, view) if every else ids or []
    try:
        if action == "accept":
            done = _accept(kernel, principal, chosen, text, bucket, bucket_name)
        else:
            with kernel.store.write() as session:
                done = (
                    {"dismissed": dismiss_suggestions(session, principal, chosen)}
                    if action == "dismiss"
                    else {"restored": restore_suggestions(session, principal, chosen)}
                )
    except (InvalidInput, LimitExceeded, NotFound) as error:
        return _page(request, kernel, signed_in, view, error=error)
    return RedirectResponse(view.address(**done), status_code=303)


def _page(
    request: Request,
    kernel: Kernel,
    signed_in: SignedIn,
    view: ReviewView,
    *,
    edit: str = "",
    notice: str = "",
    error: BackreadError | None = None,
) -> Response:
    principal = signed_in.principal
    with kernel.store.read() as session:
        counts = {
            each: count_suggestions(session, principal, SuggestionFilter(each))
            for each in _STATE_NAMES
        }
        here = counts[view.state]
        matching = here.get(view.platform, 0) if view.platform else sum(here.values())
        pages = max(1, -(-matching // PAGE_SIZE))
        view = replace(view, page=min(view.page, pages))
        rows = list_suggestions(
            session,
            principal,
            SuggestionFilter(view.state, view.platform),
            offset=(view.page - 1) * PAGE_SIZE,
            limit=PAGE_SIZE,
        )
    context = {
        "signed_in": signed_in,
        "groups": _grouped(rows),
        "state_names": _STATE_NAMES,
        "totals": {each: sum(found.values()) for each, found in counts.items()},
        "platforms": here,
        "matching": matching,
        "view": view,
        "previous": replace(view, page=view.page - 1).address() if view.page > 1 else "",
        "next": replace(view, page=view.page + 1).address() if view.page < pages else "",
        "state_links": {each: ReviewView(each).address() for each in _STATE_NAMES},
        "pages": pages,
        "edit": edit,
        "notice": notice,
        "error": error,
        "buckets": list_buckets(kernel, principal).buckets,
        "most_at_once": MOST_AT_ONCE,
        "max_bucket_name": MAX_BUCKET_NAME,
    }
    return render(request, "review.html", context, status_code=http_status(error) if error else 200)


def _accept(
    kernel: Kernel,
    principal: Principal,
    ids: Sequence[str],
    text: str,
    bucket: str,
    bucket_name: str,
) -> dict[str, int]:
    is_new = bucket == _NEW_BUCKET
    if is_new and not bucket_name.strip():
        raise InvalidInput("The new bucket has no name.", hint="Give it one.")
    text = unix_lines(text)
    result = accept_suggestions(
        kernel,
        principal,
        [AcceptedSuggestion(each, text if len(ids) == 1 else "") for each in ids],
        bucket_id=None if is_new or not bucket else bucket,
        bucket_name=bucket_name if is_new else "",
    )
    return {"kept": result.accepted, "already": result.accepted - result.stored}


def _all_ids(kernel: Kernel, principal: Principal, view: ReviewView) -> list[str]:
    wanted = SuggestionFilter(view.state, view.platform)
    with kernel.store.read() as session:
        found = list_suggestions(session, principal, wanted, limit=MOST_AT_ONCE)
    return [each.suggestion.id for each in found]


def _grouped(rows: Sequence[ListedSuggestion]) -> list[PlatformGroup]:
    def place(row: ListedSuggestion) -> tuple[str, str, str]:
        return row.suggestion.source, row.project, row.suggestion.project_external_id

    return [
        PlatformGroup(
            platform,
            [SourceGroup(*key[:2], list(of_source)) for key, of_source in groupby(group, place)],
        )
        for platform, group in groupby(rows, lambda row: row.suggestion.platform)
    ]
