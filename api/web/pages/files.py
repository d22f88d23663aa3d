"""Files: documents that were uploaded, and those that projects hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from api.accounts.sessions import SignedIn
from api.deps import KernelDep, SignedInDep
from api.web.filing import KINDS, STATES, kind_and_pages
from api.web.templating import render
from backread.kernel import Kernel
from backread.store.models import File
from backread.store.repositories.documents import (
    DocumentFilter,
    ListedDocument,
    count_documents,
    list_documents,
)
from backread.store.repositories.file_buckets import FileBucketCount, file_buckets_of
from backread.store.repositories.files import list_files
from ingest.documents.keeping import Receipt, in_units

PAGE_SIZE = 200
_MOST_FILES = 2_000  # listed; search finds the rest

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


@dataclass(frozen=True, slots=True)
class ShownBucket:
    """A bucket with its files."""

    counted: FileBucketCount
    files: Sequence[File]


@router.get("/files")
def files_page(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
) -> Response:
    return show_files(request, kernel, signed_in, page=page)


def show_files(
    request: Request,
    kernel: Kernel,
    signed_in: SignedIn,
    *,
    page: int = 1,
    receipt: Receipt | None = None,
    problem: tuple[str, str] = ("", ""),
) -> Response:
    """The list, perhaps with what has just been done or was wrong."""
    principal = signed_in.principal
    with kernel.store.read() as session:
        buckets = file_buckets_of(session, principal.account_id)
        files = [file for file, _ in list_files(session, principal.account_id, limit=_MOST_FILES)]
        total = count_documents(session, principal, DocumentFilter())
        pages = max(1, -(-total // PAGE_SIZE))
        page = min(page, pages)
        rows = list_documents(
            session, principal, DocumentFilter(), offset=(page - 1) * PAGE_SIZE, limit=PAGE_SIZE
        )
    context: dict[str, Any] = {
        "signed_in": signed_in,
        "buckets": [
            ShownBucket(each, [file for file in files if file.bucket_id == each.bucket.id])
            for each in buckets
        ],
        "file_count": sum(each.files for each in buckets),
        "is_moving": any(file.state in ("waiting", "reading") for file in files),
        "groups": _grouped(rows),
        "total": total,
        "page": page,
        "pages": pages,
        "receipt": receipt,
        "problem_text": problem[0],
        "problem_hint": problem[1],
        "most": in_units(kernel.settings.file_max_bytes),
        "used": sum(each.size_bytes for each in buckets),
        "room": in_units(kernel.settings.files_max_bytes),
        "states": STATES,
        "kinds": KINDS,
        "kind_and_pages": kind_and_pages,
    }
    status = 400 if problem[0] else 200
    return render(request, "files.html", context, status_code=status)


def _grouped(rows: Sequence[ListedDocument]) -> list[DocumentGroup]:
    def place(row: ListedDocument) -> tuple[str, str, str]:
        return row.platform, row.project, row.project_external_id

    return [DocumentGroup(*key[:2], list(group)) for key, group in groupby(rows, place)]
