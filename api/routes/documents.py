from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Response

from api.deps import HistoryReaderDep, ReadDep
from api.schemas.documents import DocumentDetail, DocumentList, DocumentOut
from backread.store.repositories.documents import (
    DocumentFilter,
    count_documents,
    find_document,
    list_documents,
)

_NAME_CHARACTERS = 150

router = APIRouter(tags=["documents"])


@router.get("/documents")
def get_documents(
    session: ReadDep,
    principal: HistoryReaderDep,
    platform: Annotated[str, Query(max_length=32, description="Slug, such as claude_ai.")] = "",
    project: Annotated[str, Query(max_length=512, description="The platform's id of it.")] = "",
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> DocumentList:
    """Project documents, instructions and descriptions, by project and name, without their text."""
    wanted = DocumentFilter(platform=platform, project=project)
    found = list_documents(session, principal, wanted, offset=offset, limit=limit)
    return DocumentList(
        items=[DocumentOut.model_validate(each) for each in found],
        total=count_documents(session, principal, wanted),
        offset=offset,
    )


@router.get("/documents/{document_id}")
def get_document(session: ReadDep, principal: HistoryReaderDep, document_id: str) -> DocumentDetail:
    """One document with its text."""
    return DocumentDetail.model_validate(find_document(session, principal, document_id))


@router.get("/documents/{document_id}/download", response_class=Response)
def download_document(session: ReadDep, principal: HistoryReaderDep, document_id: str) -> Response:
    """The text as a file. Always plain text and never shown in place, whatever it is."""
    document = find_document(session, principal, document_id)
    return Response(
        document.text.encode("utf-8", "surrogatepass"),
        media_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": _attachment(document.name),
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        },
    )


def _attachment(name: str) -> str:
    """RFC 6266: the name in ASCII for old clients, and as it is. No path, no control characters,
    no dot at the start; the ending stays."""
    bare = name.replace("\\", "/").rsplit("/", 1)[-1]
    safe = "".join(each for each in bare if each.isprintable()).strip(" .")
    safe = safe[-_NAME_CHARACTERS:].lstrip(" .") or "document"
    safe = safe if "." in safe else f"{safe}.txt"
    plain = "".join(each if each.isascii() and each not in '"\\%;' else "_" for each in safe)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe, safe='')}"
