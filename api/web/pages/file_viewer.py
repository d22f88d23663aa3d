"""One document, page by page, with a passage marked; and search in all of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from markupsafe import Markup

from api.accounts.sessions import SignedIn
from api.deps import KernelDep, ReadDep, SignedInDep
from api.web.filing import (
    STATES,
    kind_and_pages,
    marked_range,
    marked_text,
    page_name,
    table_rows,
)
from api.web.snippets import marked_snippet, query_terms
from api.web.templating import render
from backread.errors import BackreadError, InvalidInput, NotFound, Unavailable
from backread.store.engine import ReadSession
from backread.store.models import Document, File
from backread.store.repositories.documents import find_document
from backread.store.repositories.file_buckets import file_buckets_of, get_file_bucket
from backread.store.repositories.file_passages import page_labels, page_of, passage_at
from backread.store.repositories.files import find_file, versions_of
from recall.files.results import FileSearchResult, FoundFilePassage
from recall.files.search import MAX_RESULTS, search_files

_MOST_SHOWN = 200_000  # characters; a browser takes seconds to lay out more
_MAX_QUERY = 1000

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A result as the page shows it."""

    name: str
    place: str
    location: str
    dated: datetime | None
    snippet: Markup
    href: str


@router.get("/files/search")
def search_page(
    request: Request,
    kernel: KernelDep,
    session: ReadDep,
    signed_in: SignedInDep,
    q: Annotated[str, Query(max_length=_MAX_QUERY)] = "",
    bucket: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    query = " ".join(q.split())
    result: FileSearchResult | None = None
    problem: BackreadError | None = None
    if query:
        bucket_id = int(bucket) if bucket.isascii() and bucket.isdigit() else None
        try:
            result = search_files(
                kernel, signed_in.principal, query, bucket_id=bucket_id, top_k=MAX_RESULTS
            )
        except (InvalidInput, NotFound, Unavailable) as error:
            problem = error
    context = {
        "signed_in": signed_in,
        "q": query,
        "bucket": bucket,
        "buckets": file_buckets_of(session, signed_in.account_id),
        "result": result,
        "hits": [shown_passage(each, query) for each in result.passages] if result else [],
        "problem_text": problem.message if problem else "",
        "problem_hint": problem.hint if problem else "",
    }
    return render(request, "files_search.html", context)


def shown_passage(passage: FoundFilePassage, query: str) -> ShownPassage:
    address = passage.link.partition("/files/")[2]
    return ShownPassage(
        name=passage.file_name,
        place=passage.project or passage.bucket_name,
        location=passage.location,
        dated=passage.dated,
        snippet=marked_snippet(passage.text, query_terms(query)),
        href=f"/files/{address}",
    )


@router.get("/files/{file_id}")
def file_page(
    request: Request,
    session: ReadDep,
    signed_in: SignedInDep,
    file_id: str,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    passage: Annotated[int | None, Query(ge=0, le=10_000_000)] = None,
) -> Response:
    try:
        file = find_file(session, signed_in.principal, file_id)
    except NotFound:
        document = find_document(session, signed_in.principal, file_id)
        return _document_page(request, session, signed_in, document, passage)
    return _uploaded_page(request, session, signed_in, file, page, passage)


def _uploaded_page(
    request: Request,
    session: ReadSession,
    signed_in: SignedIn,
    file: File,
    number: int,
    position: int | None,
) -> Response:
    account_id = signed_in.account_id
    shown = page_of(session, account_id, file.id, number)
    if shown is None and file.state == "ready":
        raise NotFound("The file has no such page.", hint=f"It has {file.page_count:,} pages.")
    text = shown.text if shown is not None else ""
    passage = None if position is None else passage_at(session, account_id, file.id, position)
    start, end = marked_range(number, len(text), passage)
    labels = page_labels(session, account_id, file.id)
    context = {
        "signed_in": signed_in,
        "file": file,
        "bucket": get_file_bucket(session, account_id, file.bucket_id),
        "versions": versions_of(session, account_id, file.id),
        "page": shown,
        "number": number,
        "pages": [(each, page_name(file, each, label)) for each, label in labels],
        "rows": table_rows(shown, start, end) if shown is not None and shown.has_table else [],
        "shown": marked_text(text, start, end),
        "is_marked": start < end,
        "passage": passage,
        "is_lost": position is not None and passage is None,
        "states": STATES,
        "kind_and_pages": kind_and_pages,
    }
    return render(request, "file_viewer.html", context)


def _document_page(
    request: Request,
    session: ReadSession,
    signed_in: SignedIn,
    document: Document,
    position: int | None,
) -> Response:
    """A text that a project holds, all on one page."""
    found = (
        None
        if position is None
        else passage_at(session, signed_in.account_id, document.id, position)
    )
    start, end = marked_range(1, len(document.text), found)
    is_cut = len(document.text) > _MOST_SHOWN
    first = max(0, start - _MOST_SHOWN // 2) if is_cut and start < end else 0
    shown = document.text[first : first + _MOST_SHOWN]
    context = {
        "signed_in": signed_in,
        "document": document,
        "shown": shown,
        "marked": marked_text(shown, start - first, end - first) if start < end else "",
        "is_cut": is_cut,
        "is_markdown": document.media_type == "text/markdown",
    }
    return render(request, "file.html", context)
