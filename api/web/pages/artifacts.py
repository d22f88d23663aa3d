"""An artifact of a conversation: its versions, its text, and the file to keep."""

from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request, Response

from api.artifacts import (
    artifact_on_line,
    artifacts_on_line,
    file_name,
    is_prose,
    kind_of,
    language_of,
)
from api.deps import ReadDep, SignedInDep
from api.web.content import render_code
from api.web.lines import ConversationTree
from api.web.pages.reader import artifact_address, message_address
from api.web.templating import render
from backread.artifacts import Version
from backread.store.repositories.browsing import find_conversation, message_tree

router = APIRouter(include_in_schema=False)

_ID = Query(max_length=26)
_VERSION = Query(ge=0, le=1_000_000)


@router.get("/c/{conversation_id}/artifacts/{number}")
def artifact_page(
    request: Request,
    session: ReadDep,
    signed_in: SignedInDep,
    conversation_id: str,
    number: int,
    version: Annotated[int, _VERSION] = 0,
    at: Annotated[str, _ID] = "",
) -> Response:
    conversation = find_conversation(session, signed_in.principal, conversation_id)
    tree = ConversationTree(message_tree(session, signed_in.principal, conversation_id))
    made = artifact_on_line(
        session,
        signed_in.principal,
        tree,
        conversation_id,
        at=at,
        number=number,
        version=version,
    )
    artifact, shown = made.artifact, made.version
    all_of_them = artifacts_on_line(
        session, signed_in.principal, conversation_id, tree.line(at or None)
    )

    def address(version: Version) -> str:
        return artifact_address(conversation_id, number, version=version.number, at=at)

    neighbours = {
        each.number - shown.number: address(each)
        for each in artifact.versions
        if abs(each.number - shown.number) == 1
    }
    context = {
        "signed_in": signed_in,
        "conversation": conversation,
        "artifact": artifact,
        "kind": kind_of(artifact),
        "version": shown,
        "versions": [(each, address(each)) for each in reversed(artifact.versions)],
        "previous": neighbours.get(-1, ""),
        "next": neighbours.get(1, ""),
        "others": [
            (each, kind_of(each), artifact_address(conversation_id, each.number, at=at))
            for each in all_of_them
        ],
        "is_prose": is_prose(artifact) and not shown.problem,
        "code": render_code(shown.text, language_of(artifact)),
        "file_name": file_name(artifact),
        "file_href": f"/c/{conversation_id}/artifacts/{number}/file?"
        + urlencode({"version": shown.number, **({"at": at} if at else {})}),
        "message_href": message_address(conversation_id, shown.message_id),
        "back_href": f"/c/{conversation_id}" + (f"?{urlencode({'at': at})}" if at else ""),
    }
    return render(request, "artifact.html", context)


@router.get("/c/{conversation_id}/artifacts/{number}/file")
def artifact_file(
    session: ReadDep,
    signed_in: SignedInDep,
    conversation_id: str,
    number: int,
    version: Annotated[int, _VERSION] = 0,
    at: Annotated[str, _ID] = "",
) -> Response:
    """The version as a file to save: always as plain text, so that no browser runs it."""
    find_conversation(session, signed_in.principal, conversation_id)
    tree = ConversationTree(message_tree(session, signed_in.principal, conversation_id))
    made = artifact_on_line(
        session,
        signed_in.principal,
        tree,
        conversation_id,
        at=at,
        number=number,
        version=version,
    )
    name = quote(file_name(made.artifact))
    return Response(
        made.version.text.encode(),
        media_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "Cache-Control": "no-store",
        },
    )
