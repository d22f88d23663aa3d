"""What a note said, change by change."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.deps import ReadDep, SignedInDep
from api.web.pages.notes.addresses import crumbs, note_address
from api.web.templating import render
from recall.differences import difference
from recall.notes import reading

_WORDS = {
    "write": "written",
    "edit": "edited",
    "delete": "deleted",
    "restore": "restored",
    "import": "imported",
    "sync": "synchronised",
}

router = APIRouter(include_in_schema=False)


@router.get("/notes/{path:path}/history")
def history_page(
    request: Request,
    session: ReadDep,
    signed_in: SignedInDep,
    path: str,
    at: Annotated[int | None, Query(ge=1)] = None,
    before: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """`at` is the revision that is compared with the one before it; the latest if left out."""
    principal = signed_in.principal
    note = reading.get_note(session, principal, path)
    revisions = reading.history(session, principal, path, before=before)
    shown = reading.revision(session, principal, path, at or note.number)
    former = reading.text_before(session, principal, path, shown.number)
    older = revisions[-1].number if revisions and revisions[-1].number > 1 else None
    context = {
        "signed_in": signed_in,
        "note": note,
        "crumbs": crumbs(note.path),
        "address": note_address(note.path),
        "revisions": [
            (each, note_address(note.path, "/history", at=each.number, before=before or 0))
            for each in revisions
        ],
        "older": note_address(note.path, "/history", at=shown.number, before=older)
        if older
        else "",
        "shown": shown,
        "lines": difference(former, shown.text),
        "words": _WORDS,
        "restore": note_address(note.path, "/restore"),
    }
    return render(request, "notes/history.html", context)
