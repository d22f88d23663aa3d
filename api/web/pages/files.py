"""Files: the documents, instructions and descriptions that projects hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.deps import ReadDep, SignedInDep
from api.web.templating import render
from backread.store.repositories.documents import (
    DocumentFilter,
    ListedDocument,
    count_documents,
    find_document,
    list_documents,
)

PAGE_SIZE = 200
_MOST_SHOWN = 200_000  # characters; a browser takes seconds to lay out more

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class DocumentGroup:
    """The documents of one project on one page."""

    platform: str
    project: str
    rows: Sequence[ListedDocument]

    @property
    def size_bytes(self) -> int:
        return sum(row.size_bytes for row in self.rows)


@router.get("/files")
def files_page(
    request: Request,
    session: ReadDep,
    signed_in: SignedInDep,
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
) -> Response:
    principal = signed_in.principal
    total = count_documents(session, principal, DocumentFilter())
    pages = max(1, -(-total // PAGE_SIZE))
    page = min(page, pages)
    rows = list_documents(
        session, principal, DocumentFilter(), offset=(page - 1) * PAGE_SIZE, limit=PAGE_SIZE
    )
    context = {
        "signed_in": signed_in,
        "groups": _grouped(rows),
        "total": total,
        "page": page,
        "pages": pages,
    }
    return render(request, "files.html", context)


@router.get("/files/{document_id}")
def file_page(
    request: Request, session: ReadDep, signed_in: SignedInDep, document_id: str
) -> Response:
    document = find_document(session, signed_in.principal, document_id)
    context = {
        "signed_in": signed_in,
        "document": document,
        "shown": document.text[:_MOST_SHOWN],
        "is_cut": len(document.text) > _MOST_SHOWN,
        "is_markdown": document.media_type == "text/markdown",
    }
    return render(request, "file.html", context)


def _grouped(rows: Sequence[ListedDocument]) -> list[DocumentGroup]:
    def place(row: ListedDocument) -> tuple[str, str, str]:
        return row.platform, row.project, row.project_external_id

    return [DocumentGroup(*key[:2], list(group)) for key, group in groupby(rows, place)]
