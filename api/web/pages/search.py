"""The search page: words and meaning in one box."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from markupsafe import Markup

from api.accounts.sessions import SignedIn
from api.deps import KernelDep, SignedInDep
from api.web.filters import number, platform_name, plural
from api.web.pages.file_viewer import ShownPassage, shown_passage
from api.web.pages.notes.addresses import note_address
from api.web.pages.reader import message_address
from api.web.snippets import marked_snippet, query_terms
from api.web.templating import render
from backread.domain import Role
from backread.errors import BackreadError, InvalidInput, Unavailable
from backread.kernel import Kernel
from backread.store.repositories.browsing import archive_totals
from recall.files.search import search_files
from recall.folders.finding import find_records
from recall.memories.finding import find_memories
from recall.notes.meaning import related_notes
from recall.search import SearchHit, SearchQuery, SearchResult, search
from recall.timeline import Timeline, browse

_RESULTS = 30
_IN_FILES = 2
_IN_NOTES = 3
_IN_MEMORIES = 3
_IN_RECORDS = 3
_FITS_WELL = 0.5  # of a memory: by its words, or near by its meaning
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
    document: str
    snippet: Markup
    href: str


@dataclass(frozen=True, slots=True)
class ShownNote:
    """A note that fits."""

    title: str
    path: str
    href: str
    snippet: Markup


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """A memory or a record that fits; `place` is its bucket or folder."""

    title: str
    place: str
    href: str
    snippet: Markup


@router.get("/search")
def search_page(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    q: Annotated[str, Query(max_length=_MAX_QUERY)] = "",
    platform: Annotated[str, Query(max_length=32)] = "",
    after: Annotated[str, Query(max_length=10)] = "",
    before: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    asked = AskedSearch(" ".join(q.split()), platform, after, before)
    result, error = _search(kernel, signed_in, asked)
    hits = result.hits if result else []
    elsewhere = _elsewhere(kernel, signed_in, asked if result else AskedSearch())
    timeline = _timeline(kernel, signed_in, asked)
    with kernel.store.read() as session:  # after the searches, which read by themselves
        platforms = list(archive_totals(session, signed_in.principal).platforms)
    context = {
        "signed_in": signed_in,
        "asked": asked,
        "platforms": platforms,
        "problem_text": str(error) if error else "",
        "hits": [_shown(hit, query_terms(asked.q)) for hit in hits],
        "conversation_count": len({hit.conversation_id for hit in hits}),
        "note": _note(result) if result else "",
        "searched_text": _searched_text(asked, result) if result else "",
        "timeline": timeline,
        **elsewhere,
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


def _timeline(kernel: Kernel, signed_in: SignedIn, asked: AskedSearch) -> Timeline | None:
    """Everything of a time, when nothing is asked for but the time."""
    if asked.q or not (asked.after or asked.before):
        return None
    try:
        return browse(
            kernel,
            signed_in.principal,
            after=asked.after or None,
            before=asked.before or None,
            platform=asked.platform or None,
            limit=_RESULTS,
        )
    except InvalidInput:
        return None  # half a date, as it is typed


def _elsewhere(kernel: Kernel, signed_in: SignedIn, asked: AskedSearch) -> dict[str, Any]:
    """The best of memories, notes, files and records, unless the search is for chats of a
    platform or a time."""
    if not asked.q or asked.platform or asked.after or asked.before:
        return {"memory_hits": [], "note_hits": [], "file_hits": [], "record_hits": []}
    terms = query_terms(asked.q)
    return {
        "memory_hits": _in_memories(kernel, signed_in, asked.q, terms),
        "note_hits": _in_notes(kernel, signed_in, asked.q, terms),
        "file_hits": _in_files(kernel, signed_in, asked.q),
        "record_hits": _in_records(kernel, signed_in, asked.q, terms),
    }


def _in_memories(
    kernel: Kernel, signed_in: SignedIn, query: str, terms: list[str]
) -> list[ShownPiece]:
    try:
        found = find_memories(kernel, signed_in.principal, query, limit=_IN_MEMORIES)
    except Unavailable:
        return []
    page = urlencode({"q": query})
    return [
        ShownPiece(
            title="",
            place=each.bucket_name,
            href=f"/memories?{page}#m-{each.memory_id}",
            snippet=marked_snippet(each.text, terms),
        )
        for each in found.memories
        if each.score >= _FITS_WELL
    ]


def _in_records(
    kernel: Kernel, signed_in: SignedIn, query: str, terms: list[str]
) -> list[ShownPiece]:
    return [
        ShownPiece(
            title=each.record_name,
            place=each.folder_name,
            href=f"/folders/{each.folder_id}/records/{each.record_id}",
            snippet=marked_snippet(each.text, terms),
        )
        for each in find_records(kernel, signed_in.principal, query, limit=_IN_RECORDS)
    ]


def _in_files(kernel: Kernel, signed_in: SignedIn, query: str) -> list[ShownPassage]:
    found = search_files(kernel, signed_in.principal, query, top_k=_IN_FILES)
    return [shown_passage(each, query) for each in found.passages]


def _in_notes(kernel: Kernel, signed_in: SignedIn, query: str, terms: list[str]) -> list[ShownNote]:
    return [
        ShownNote(
            each.title, each.path, note_address(each.path), marked_snippet(each.snippet, terms)
        )
        for each in related_notes(kernel, signed_in.principal, query, limit=_IN_NOTES)
    ]


def _shown(hit: SearchHit, terms: list[str]) -> ShownHit:
    speaker = "You" if hit.role == Role.USER else platform_name(hit.platform)
    return ShownHit(
        title=hit.title,
        platform=hit.platform,
        speaker=speaker,
        occurred_at=hit.occurred_at,
        document=hit.document,
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
