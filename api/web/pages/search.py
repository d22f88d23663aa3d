"""The search page: words and meaning in one box."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from markupsafe import Markup

from api.accounts.sessions import SignedIn
from api.deps import KernelDep, ReadDep, SignedInDep
from api.web.filters import number, platform_name, plural
from api.web.pages.reader import message_address
from api.web.snippets import marked_snippet, query_terms
from api.web.templating import render
from backread.domain import Role
from backread.errors import BackreadError, InvalidInput, Unavailable
from backread.kernel import Kernel
from backread.store.repositories.browsing import archive_totals
from recall.search import SearchHit, SearchQuery, SearchResult, search

_RESULTS = 30
_MAX_QUERY = 1000

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class AskedSearch:
    """What the form held."""

    q: str = ""
    platform: str = ""
    after: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A result as the page shows it."""

    title: str
    platform: str
    speaker: str
    occurred_at: datetime | None
    snippet: Markup
    href: str


@router.get("/search")
def search_page(
    request: Request,
    kernel: KernelDep,
    session: ReadDep,
    signed_in: SignedInDep,
    q: Annotated[str, Query(max_length=_MAX_QUERY)] = "",
    platform: Annotated[str, Query(max_length=32)] = "",
    after: Annotated[str, Query(max_length=10)] = "",
    before: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    asked = AskedSearch(" ".join(q.split()), platform, after, before)
    result, error = _search(kernel, signed_in, asked)
    hits = result.hits if result else []
    context = {
        "signed_in": signed_in,
        "asked": asked,
        "platforms": list(archive_totals(session, signed_in.principal).platforms),
        "problem_text": str(error) if error else "",
        "hits": [_shown(hit, query_terms(asked.q)) for hit in hits],
        "conversation_count": len({hit.conversation_id for hit in hits}),
        "note": _note(result) if result else "",
        "searched_text": _searched_text(asked, result) if result else "",
    }
    return render(request, "search.html", context)


def _search(
    kernel: Kernel, signed_in: SignedIn, asked: AskedSearch
) -> tuple[SearchResult | None, BackreadError | None]:
    if not asked.q:
        return None, None
    query = SearchQuery(
        text=asked.q,
        after=asked.after or None,
        before=asked.before or None,
        platform=asked.platform or None,
        limit=_RESULTS,
    )
    try:
        return search(kernel, signed_in.principal, query), None
    except (InvalidInput, Unavailable) as error:
        return None, error


def _shown(hit: SearchHit, terms: list[str]) -> ShownHit:
    speaker = "You" if hit.role == Role.USER else platform_name(hit.platform)
    return ShownHit(
        title=hit.title,
        platform=hit.platform,
        speaker=speaker,
        occurred_at=hit.occurred_at,
        snippet=marked_snippet(hit.text, terms),
        href=message_address(hit.conversation_id, hit.message_id),
    )


def _note(result: SearchResult) -> str:
    """What narrowed the search, when something did."""
    if result.conversations_searched == result.conversations_total:
        return ""
    return (
        f"Searched {number(result.conversations_searched)} of "
        f"{plural(result.conversations_total, 'conversation')}"
    )


def _searched_text(asked: AskedSearch, result: SearchResult) -> str:
    where = [platform_name(asked.platform)] if asked.platform else []
    if asked.after:
        where.append(f"from {asked.after}")
    if asked.before:
        where.append(f"until {asked.before}")
    limits = f" ({', '.join(where)})" if where else ""
    return (
        f"Nothing about “{asked.q}”. Searched {number(result.conversations_searched)} of "
        f"{plural(result.conversations_total, 'conversation')}{limits}, by words and by meaning."
    )
