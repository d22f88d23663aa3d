from typing import Annotated

from fastapi import APIRouter, Query, Response

from api.attachments import attachment_headers
from api.deps import HistoryReaderDep, ReadDep
from api.schemas.documents import DocumentDetail, DocumentList, DocumentOut
from backread.store.repositories.documents import (
    DocumentFilter,
    count_documents,
    find_document,
    list_documents,
)

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
        headers=attachment_headers(document.name, ending=".txt"),
    )
